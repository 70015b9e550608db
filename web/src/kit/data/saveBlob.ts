const REVOKE_MILLISECONDS = 10_000;

/** Hands a file to the browser, which saves it as a download. */
export function saveBlob(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads the file after the click.
  setTimeout(() => URL.revokeObjectURL(url), REVOKE_MILLISECONDS);
}
