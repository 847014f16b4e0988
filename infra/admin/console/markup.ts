import { html } from 'hono/html';
import { capitalized, formatNumber, visibleLines } from '../service/text.ts';

export type Html = ReturnType<typeof html>;

/** Escapes interpolated values. Not named `html`, so that Prettier leaves the markup as it is. */
export const markup = (strings: TemplateStringsArray, ...values: unknown[]): Html =>
  html(strings, ...values.map((value) => (typeof value === 'string' ? visibleLines(value) : value)));

export interface Page {
  /** Also the heading. */
  readonly title: string;
  readonly beside?: Html;
  readonly crumbs?: Html;
  /** Place of the service; undefined without a session. */
  readonly place?: string;
  /** Path prefix of every page and link. */
  readonly base?: string;
  /** Address of this page, for links within it. */
  readonly address?: string;
  readonly part?: keyof typeof parts;
  readonly note?: string | undefined;
  readonly failure?: string | undefined;
}

const parts = { overview: 'Overview', keys: 'Keys', stock: 'Stock' } as const;

export function layout({ title, beside, crumbs, place, base, address, part, note, failure }: Page, content?: Html) {
  const link = ([id, name]: readonly string[]): Html =>
    markup`<a href="${id}" ${id === part && markup`aria-current="page"`}>${name}</a>`;
  const isLocal = place?.startsWith('http') ?? true;
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${base !== undefined && markup`<base href="${base}/">`}
<title>${title} · Pet Store Inventory</title>
<link rel="icon" href="/favicon.svg">
<link rel="stylesheet" href="/console.css">
<script src="/console.js" defer></script>
</head>
<body>
<a class="skip" href="${address}#main">Skip to content</a>
<header class="top">
<a class="brand" href="overview"><img src="/favicon.svg" alt="" width="22" height="22"> Pet Store Inventory</a>
${
  place !== undefined &&
  markup`<nav aria-label="Main">${Object.entries(parts).map(link)}</nav>
<span class="place ${!isLocal && 'stage'}">${isLocal ? place.replace(/^https?:\/\//, '') : place}</span>`
}
</header>
<main id="main">
${failure !== undefined && alert(failure)}
${note !== undefined && markup`<p class="note" role="status">${note}</p>`}
${crumbs && markup`<p class="crumbs">${crumbs}</p>`}
<div class="head"><h1>${title}</h1>${beside}</div>
${content}
</main>
</body>
</html>`;
}

/** Of several lines, the last is the sentence and the others are a list. */
function alert(text: string): Html {
  const lines = text.split('\n');
  const list = lines.slice(0, -1).map((line) => markup`<li>${line}</li>`);
  return markup`<div class="alert" role="alert">${lines.at(-1)}${list.length > 0 && markup`<ul>${list}</ul>`}</div>`;
}

export interface Field {
  readonly name: string;
  readonly label: string;
  readonly hint?: string | undefined;
  readonly type?: 'text' | 'search' | 'file';
  readonly choices?: readonly (readonly [value: string, text: string])[] | undefined;
  readonly attributes?: Html | undefined;
}

export const numeric = markup`inputmode="numeric"`;

/** Submitted values of a form, and their errors, by field name. */
export interface Sent {
  readonly values: Readonly<Record<string, string>>;
  readonly fieldErrors: Readonly<Record<string, string>>;
  readonly formError?: string | undefined;
}

export const nothingSent: Sent = { values: {}, fieldErrors: {} };

/** A field with its error or hint. @param form id of the form, prefix of the ids of its fields */
export function field(form: string, { name, label, hint, type = 'text', choices, attributes }: Field, sent: Sent) {
  const { [name]: value = '' } = sent.values;
  const { [name]: error } = sent.fieldErrors;
  const id = `${form}-${name}`;
  const isFirstError = Object.keys(sent.fieldErrors)[0] === name;
  const invalid = error !== undefined && markup`aria-invalid="true"`;
  const shared = markup`id="${id}" name="${name}" aria-describedby="${id}-hint" ${attributes} ${invalid} ${isFirstError && markup`autofocus`}`;
  const options = choices?.map(
    ([choice, text]) => markup`<option value="${choice}" ${choice === value && markup`selected`}>${text}</option>`,
  );
  const input = markup`<input type="${type}" ${shared} value="${value}" autocomplete="off" spellcheck="false">`;
  return markup`<div class="field field-${name}"><label for="${id}">${label}</label>
${options ? markup`<select ${shared}>${options}</select>` : input}
<p class="${error === undefined ? 'hint' : 'error'}" id="${id}-hint">${error ?? hint}</p></div>`;
}

export const dangerButton = (text: string): Html => markup`<button class="danger">${text}</button>`;

export const hidden = (values: Sent['values']): Html[] =>
  Object.entries(values).map(([name, value]) => markup`<input type="hidden" name="${name}" value="${value}">`);

/** A form that filters the rows of its page. @param attributes of the form, such as its method */
export const filters = (fields: readonly Field[], query: Sent['values'], attributes?: Html): Html =>
  markup`<form class="filters" role="search" ${attributes}>
${fields.map((one) => field('filter', one, { ...nothingSent, values: query }))}<button class="quiet">Filter</button></form>`;

export const keysLink = markup`<a href="keys">Keys</a>`;
export const linksTo = ({ id, name }: { readonly id: string; readonly name: string }): Html =>
  markup`${keysLink} / <a href="keys/${id}">${name}</a>`;

/** Used share of a limit, as a bar and in numbers. */
export function meter(label: string, used: number, limit: number): Html {
  return markup`<span class="meter"><meter aria-label="${label}" max="${limit}" low="${limit * 0.8}" high="${
    limit * 0.95
  }" optimum="0" value="${used}"></meter><span>${formatNumber(used)} / ${formatNumber(limit)}</span></span>`;
}

const isNumber = (cell: Html | string = ''): boolean => typeof cell === 'string' && /^[+-]?[\d,.]+$/.test(cell);

/** A table that scrolls by itself, also by keyboard. Right-aligns numbers. @param order aria-sort of each column */
export function table(
  label: string,
  titles: readonly (Html | string)[],
  rows: readonly (readonly (Html | string)[])[],
  order: readonly (string | false)[] = [],
): Html {
  const sides = titles.map((_, at) => (rows.some((cells) => isNumber(cells[at])) ? markup` class="number"` : markup``));
  const sorted = order.map((direction) => direction && markup` aria-sort="${direction}"`);
  const heads = titles.map((title, at) => markup`<th scope="col"${sides[at]}${sorted[at]}>${title}</th>`);
  const row = (cells: readonly (Html | string)[]): Html =>
    markup`<tr>${cells.map((cell, at) => markup`<td${sides[at]}>${cell}</td>`)}</tr>`;
  return markup`<div class="scroll" role="region" aria-label="${label}" tabindex="0"><table>
<thead><tr>${heads}</tr></thead><tbody>${rows.map(row)}</tbody></table></div>`;
}

/** A description from the command's help as a sentence. */
export const sentence = (text: string): string => `${capitalized(text)}.`;

export const facts = (values: Readonly<Record<string, Html | string>>): Html =>
  markup`<dl class="facts">${Object.entries(values).map(([term, value]) => markup`<div><dt>${term}</dt><dd>${value}</dd></div>`)}</dl>`;
