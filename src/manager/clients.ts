import type { ClusterConfig } from '../kube/index.ts';
import { type Clients, type ClientsOptions, createClients } from '../leading/index.ts';

export const createManagerClients = (config: ClusterConfig, options: Omit<ClientsOptions, 'program'>): Clients =>
  createClients(config, { ...options, program: 'manager' });
