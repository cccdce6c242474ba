/** `GET /health/live`: the process answers. */
export type LiveAnswer = { readonly status: 'ok' };

export type ServiceState = 'ok' | 'unavailable';

/** `GET /health/ready`: with status 200 if new work can be done, else with 503. */
export type ReadyAnswer = {
  readonly status: 'ok' | 'unavailable' | 'stopping';
  readonly services: { readonly store: ServiceState };
};
