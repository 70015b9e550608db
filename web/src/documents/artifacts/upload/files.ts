/** Files and folders that are dropped or chosen, as one list. */

export interface ChosenFile {
  file: File;
  /** The path inside the folder that was dropped, or the name of the file. */
  path: string;
}

const HIDDEN = /(^|\/)(\.[^/]+|Thumbs\.db|desktop\.ini|__MACOSX(\/.*)?)$/i;

export function isHidden(path: string): boolean {
  return HIDDEN.test(path);
}

function readEntries(reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> {
  return new Promise((resolve, reject) => reader.readEntries(resolve, reject));
}

function readFile(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject));
}

async function walk(entry: FileSystemEntry): Promise<ChosenFile[]> {
  if (entry.isFile) {
    const file = await readFile(entry as FileSystemFileEntry);
    return [{ file, path: entry.fullPath.replace(/^\//, '') }];
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const found: ChosenFile[] = [];
  // A folder is read in parts; an empty part is the end.
  for (let part = await readEntries(reader); part.length > 0; part = await readEntries(reader))
    for (const one of part) found.push(...(await walk(one)));
  return found;
}

/** Returns the files of a drop, those inside folders included. */
export async function readDrop(transfer: DataTransfer): Promise<ChosenFile[]> {
  // Entries can only be taken while the event is handled; they are read afterwards.
  const entries = [...transfer.items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  if (entries.length === 0) return readList(transfer.files);
  const found = await Promise.all(entries.map(walk));
  return found.flat().filter(({ path }) => !isHidden(path));
}

/** Returns the files of an input, with their paths inside a chosen folder. */
export function readList(files: Iterable<File> | null): ChosenFile[] {
  return [...(files ?? [])]
    .map((file) => ({ file, path: file.webkitRelativePath || file.name }))
    .filter(({ path }) => !isHidden(path));
}
