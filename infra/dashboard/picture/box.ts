/** The room of a widget, in pixels; what is drawn in it begins at 0, 0. */
export interface Box {
  readonly width: number;
  readonly height: number;
}

/** Between the edge of a card and what is in it. */
export const PADDING = 14;

/** Where what comes under the title of a card begins. */
export const BELOW_TITLE = 40;
