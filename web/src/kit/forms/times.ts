/** Times of inputs, which have no time zone, and of the API. */

const two = (value: number) => String(value).padStart(2, '0');

/** The value of an input for a time of the API, in the time zone of the reader. */
export function toLocal(time: string | null): string {
  if (time === null) return '';
  const at = new Date(time);
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** The time of an input for the API, which refuses what is no time, such as one of the year 20260. */
export function fromLocal(value: string): string | null {
  if (value === '') return null;
  const time = new Date(value);
  return isNaN(time.getTime()) ? value : time.toISOString();
}
