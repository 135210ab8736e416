/** A queue by network address: addresses are served in turn, and each that was served goes to the end. */
export class Rotation<One extends { readonly address: string }> {
  readonly #waiting = new Map<string, Set<One>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  has(one: One): boolean {
    return this.#waiting.get(one.address)?.has(one) ?? false;
  }

  countOf(address: string): number {
    return this.#waiting.get(address)?.size ?? 0;
  }

  enter(one: One): void {
    const others = this.#waiting.get(one.address) ?? new Set<One>();
    if (others.has(one)) return;
    this.#waiting.set(one.address, others.add(one));
    this.#size += 1;
  }

  leave(one: One): void {
    const others = this.#waiting.get(one.address);
    if (!others?.delete(one)) return;
    this.#size -= 1;
    this.#waiting.delete(one.address);
    if (others.size > 0) this.#waiting.set(one.address, others);
  }

  toEnd(one: One): void {
    this.leave(one);
    this.enter(one);
  }

  /** The next so many, and at most so many of one address. They stay in the queue until `leave`. */
  next(max: number, ofAddressMax: number): One[] {
    const next: One[] = [];
    for (const waiting of this.#waiting.values()) {
      let ofAddress = 0;
      for (const one of waiting) {
        if (ofAddress === ofAddressMax) break;
        if (next.push(one) === max) return next;
        ofAddress += 1;
      }
    }
    return next;
  }
}
