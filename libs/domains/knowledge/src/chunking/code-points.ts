/** Places in a text, counted in code points and in the code units of its string. */
export class CodePoints {
  /** Units at which pairs begin: each is one code point of two units. */
  private readonly pairs: number[] = [];

  constructor(text: string) {
    for (const { index } of text.matchAll(/[\u{10000}-\u{10ffff}]/gu)) this.pairs.push(index);
  }

  /** @param unit not within a pair */
  ofUnit(unit: number): number {
    return unit - this.pairsBefore((i) => this.pairs[i] < unit);
  }

  toUnit(point: number): number {
    return point + this.pairsBefore((i) => this.pairs[i] - i < point);
  }

  private pairsBefore(isBefore: (pair: number) => boolean): number {
    let [low, high] = [0, this.pairs.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBefore(middle)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
