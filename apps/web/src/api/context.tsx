import { useQuery } from '@tanstack/react-query';
import type { UseQueryResult } from '@tanstack/react-query';
import { createContext, useContext } from 'react';

import type { TurnReaders } from '../turn/turn-readers.ts';
import type { Api } from './api.ts';

export type Services = { readonly api: Api; readonly readers: TurnReaders };

const Context = createContext<Services | null>(null);
export const ServicesProvider = Context.Provider;

/** The server as this tab knows it, once it has logged in. */
export function useServices(): Services {
  const services = useContext(Context);
  if (services === null) throw new Error('outside of the part that is logged in');
  return services;
}

/** Reads a route; again every so many milliseconds while it is looked at. */
export function useRead<Answer>(
  path: string,
  { every, isWanted = true }: { readonly every?: number; readonly isWanted?: boolean } = {},
): UseQueryResult<Answer> {
  const { api } = useServices();
  return useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => api.call<Answer>(path, { signal }),
    enabled: isWanted,
    retry: false,
    refetchInterval: every ?? false,
  });
}
