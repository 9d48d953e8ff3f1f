import { resolve } from 'node:path';
import { OptionError } from '../../runtime/index.ts';

/** The flags of `edgeset cluster` as they were typed. */
export interface ClusterFlags {
  kubeconfigOut?: string;
  nodes?: string;
  port?: string;
}

export interface ClusterOptions {
  /** Absolute. */
  kubeconfig: string;
  /** 0 to 20,000. Default 3. */
  nodes: number;
  /** 0: any that is free, which is the default. */
  port: number;
}

const MOST_NODES = 20_000;
const MOST_PORTS = 65_535;

const readNumber = (flag: string, text: string, low: number, high: number): number => {
  if (!/^\d+$/.test(text) || Number(text) < low || Number(text) > high)
    throw new OptionError(flag, `"${text}" does not fit: give a whole number from ${low} to ${high}`);
  return Number(text);
};

/** Validates what was typed and fills in the defaults. Throws an `OptionError` that names the first bad flag. */
export const resolveClusterOptions = ({ kubeconfigOut = '', nodes, port }: ClusterFlags): ClusterOptions => {
  if (kubeconfigOut === '') throw new OptionError('--kubeconfig-out', 'is empty: give the name of a file to write');
  return {
    kubeconfig: resolve(kubeconfigOut),
    nodes: nodes === undefined ? 3 : readNumber('--nodes', nodes, 0, MOST_NODES),
    port: port === undefined ? 0 : readNumber('--port', port, 1, MOST_PORTS),
  };
};
