import { fetchBlob } from './client';

/** Reads a file with the token of the session, and gives it to the browser under a name. */
export async function downloadFile(path: string, name: string): Promise<void> {
  saveBlob(await fetchBlob(path), name);
}

/** Offers a file that is already here. */
export function saveBlob(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser has begun to read by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
