/** The first characters of a text, without half a surrogate pair at the cut. */
export function headOf(text: string, length: number): string {
  const head = text.slice(0, length);
  return head.isWellFormed() ? head : head.slice(0, -1);
}
