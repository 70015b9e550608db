import type { Schemas } from '@/kit/api/types';

export type Connector = Schemas['Connector'];
export type ConnectorType = Connector['type'];

export const TYPES = [
  ...(['local', 's3', 'gcs', 'azure', 'http', 'sftp', 'ftp', 'imap'] as const),
] as const satisfies ConnectorType[];

/** Returns the folders on the way to a path, each with its own path. */
export function splitFolders(path: string): { name: string; path: string }[] {
  const names = path.split('/').filter((name) => name !== '');
  const isAbsolute = path.startsWith('/');
  return names.map((name, index) => ({
    name,
    path: `${isAbsolute ? '/' : ''}${names.slice(0, index + 1).join('/')}`,
  }));
}
