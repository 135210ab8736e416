/** What waits, by network address: addresses are served in turn, and each that was served goes to the end. */
export class Rotation<One extends { readonly address: string }> {
  readonly #waiting = new Map<string, Set<One>>();

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  has(one: One): boolean {
    return this.#waiting.get(one.address)?.has(one) ?? false;
  }

  enter(one: One): void {
    const line = this.#waiting.get(one.address) ?? new Set<One>();
    this.#waiting.set(one.address, line.add(one));
  }

  leave(one: One): void {
    const line = this.#waiting.get(one.address);
    if (!line?.delete(one)) return;
    this.#waiting.delete(one.address);
    if (line.size > 0) this.#waiting.set(one.address, line);
  }

  /** The next so many, and at most so many of one address. They wait until they leave. */
  next(max: number, ofAddressMax: number): One[] {
    const next: One[] = [];
    for (const line of this.#waiting.values()) {
      let ofAddress = 0;
      for (const one of line) {
        if (ofAddress === ofAddressMax) break;
        if (next.push(one) === max) return next;
        ofAddress += 1;
      }
    }
    return next;
  }
}
