/** The time that somebody works on a document: pauses do not count. */

/** After so long without a key or a movement, nobody is working. */
const PAUSE = 60_000;

export class Stopwatch {
  private last: number | undefined;
  private total = 0;

  /** Something was done at `now`, in milliseconds. */
  tick(now: number): void {
    if (this.last !== undefined && now - this.last < PAUSE) this.total += now - this.last;
    this.last = now;
  }

  get seconds(): number {
    return Math.round(this.total / 1000);
  }

  /** Whether something was done within the last `span` milliseconds. */
  isActive(now: number, span: number): boolean {
    return this.last !== undefined && now - this.last < span;
  }
}
