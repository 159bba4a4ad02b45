/** Does something so many times at once. */
export const times = <T>(n: number, act: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: n }, (_, i) => act(i)));
