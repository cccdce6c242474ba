/** `GET /health/live`: the process answers. */
export type LiveAnswer = { readonly status: 'ok' };

export type ServiceState = 'ok' | 'unavailable';

/** `full`: what is saved finds no room. */
export type DiskState = ServiceState | 'full';

/** `GET /health/ready`: with status 200 if new work can be done, else with 503. */
export type ReadyAnswer = {
  readonly status: 'ok' | 'unavailable' | 'stopping';
  readonly services: {
    readonly store: ServiceState;
    /** Where write sessions are saved, and the store unless it is a server. */
    readonly disk: DiskState;
  };
};
