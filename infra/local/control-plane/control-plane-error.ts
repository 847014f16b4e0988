/** The errors of API Gateway's API that the host answers with, and their statuses. */
export const controlPlaneErrorStatuses = {
  BadRequestException: 400,
  ConflictException: 409,
  MissingAuthenticationTokenException: 403,
  NotFoundException: 404,
  UnknownOperationException: 404,
} as const satisfies Record<string, number>;

export type ControlPlaneErrorType = keyof typeof controlPlaneErrorStatuses;

/** A call that is refused; nothing was changed. */
export class ControlPlaneError extends Error {
  override readonly name = 'ControlPlaneError';
  readonly type: ControlPlaneErrorType;

  constructor(type: ControlPlaneErrorType, message: string) {
    super(message);
    this.type = type;
  }
}

export const badRequest = (message: string): ControlPlaneError => new ControlPlaneError('BadRequestException', message);
export const conflict = (message: string): ControlPlaneError => new ControlPlaneError('ConflictException', message);
export const notFound = (message: string): ControlPlaneError => new ControlPlaneError('NotFoundException', message);
