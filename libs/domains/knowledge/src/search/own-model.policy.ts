/** Numbers of a vector. */
export const DIMENSIONS = 256;
/** What words are told apart by; two that fall together are taken for one, which few are. */
const BUCKETS = 1 << 16;
/** Words whose company is remembered, those that stand in most texts. */
const MAX_WORDS = 20_000;
/** Places of a word's own vector that are not zero. */
const OWN_PLACES = 8;
/** Of a longer word its beginning counts besides: what is inflected has the same. */
const BEGINNING = 5;
const MAX_LETTERS = 64;
/** Scripts that do not tell words apart: two neighbouring letters count as one. */
const UNSPACED =
  /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Thai}|\p{Script=Khmer}|\p{Script=Lao}|\p{Script=Myanmar}/u;
const FORMAT = 1;
const HEADER_BYTES = 16;
const WORD_BYTES = 8 + DIMENSIONS;
/** Largest of a signed byte. */
const SCALE = 127;

/** FNV-1a. */
function bucketOf(word: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < word.length; i++) hash = Math.imul(hash ^ word.charCodeAt(i), 0x01000193);
  return (hash ^ (hash >>> 16)) & (BUCKETS - 1);
}

/** What a text is made of: the buckets of its words, and how often each stands in it. */
function wordsOf(text: string): Map<number, number> {
  const words = new Map<number, number>();
  const count = (word: string) => {
    const bucket = bucketOf(word);
    words.set(bucket, (words.get(bucket) ?? 0) + 1);
  };
  for (const [run] of text
    .normalize('NFKC')
    .toLowerCase()
    .matchAll(/[\p{L}\p{M}\p{N}]+/gu)) {
    if (UNSPACED.test(run)) {
      const letters = [...run];
      for (let i = 0; i < Math.max(1, letters.length - 1); i++) count(letters.slice(i, i + 2).join(''));
    } else if (run.length <= MAX_LETTERS) {
      count(run);
      if (run.length > BEGINNING) count(`${run.slice(0, BEGINNING)}…`);
    }
  }
  return words;
}

/** Adds a word's own vector, which follows from the word alone: a few places, scattered, so that any two have hardly one in common. */
function addOwn(sum: Float32Array, bucket: number, weight: number): void {
  let state = Math.imul(bucket + 1, 0x9e3779b1) | 1;
  for (let i = 0; i < OWN_PLACES; i++) {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d);
    state = Math.imul(state ^ (state >>> 12), 0x297a2d39);
    state ^= state >>> 15;
    sum[(state >>> 8) % DIMENSIONS] += state & 1 ? weight : -weight;
  }
}

function normalized(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  return length ? vector.map((value) => value / length) : vector;
}

function placesOf(buckets: Uint16Array): Uint16Array {
  const places = new Uint16Array(BUCKETS);
  buckets.forEach((bucket, i) => (places[bucket] = i + 1));
  return places;
}

const rarity = (texts: number, having: number): number => Math.log((1 + texts) / having);

/**
 * Says what texts mean by what it has learnt of others: words that stand in the same company are near to each other. A text is the sum of
 * its words, each by itself and by its company, the rare ones more than the usual.
 */
export class OwnModel {
  /** By bucket, which place its word has, from 1; 0 of one that it does not know. An object for each word would be more than all the rest. */
  private readonly places: Uint16Array;

  /** @param buckets of the words; in how many texts each stands, and its company, are in the same order */
  private constructor(
    private readonly texts: number,
    private readonly buckets: Uint16Array,
    private readonly having: Uint32Array,
    private readonly company: Int8Array,
    /** What all texts have in common says nothing of any. */
    private readonly common: Float32Array,
  ) {
    this.places = placesOf(buckets);
  }

  /** What it takes of memory. */
  get bytes(): number {
    return this.places.byteLength + this.buckets.byteLength + this.having.byteLength + this.company.byteLength + this.common.byteLength;
  }

  /**
   * Learns from texts, which it goes through three times.
   *
   * @param read gives them in parts, between which others have their turn
   */
  static async learn(read: () => AsyncIterable<readonly string[]>): Promise<OwnModel> {
    let texts = 0;
    const having = new Uint32Array(BUCKETS);
    for await (const part of read())
      for (const text of part) {
        texts++;
        for (const bucket of wordsOf(text).keys()) having[bucket]++;
      }
    const known = [...having.keys()].filter((bucket) => having[bucket] > 1).sort((a, b) => having[b] - having[a]);
    const words = Uint16Array.from(known.slice(0, MAX_WORDS));
    const places = placesOf(words);
    const sums = new Float32Array(words.length * DIMENSIONS);
    for await (const part of read())
      for (const text of part) {
        const buckets = [...wordsOf(text).keys()];
        const weights = buckets.map((bucket) => rarity(texts, having[bucket] || 1));
        const whole = new Float32Array(DIMENSIONS);
        buckets.forEach((bucket, i) => addOwn(whole, bucket, weights[i]));
        const length = Math.hypot(...whole) || 1;
        buckets.forEach((bucket, i) => {
          const place = places[bucket];
          if (!place) return;
          const sum = sums.subarray((place - 1) * DIMENSIONS, place * DIMENSIONS);
          for (let d = 0; d < DIMENSIONS; d++) sum[d] += whole[d] / length;
          // Nobody keeps company with themselves.
          addOwn(sum, bucket, -weights[i] / length);
        });
      }
    const model = new OwnModel(
      texts,
      words,
      Uint32Array.from(words, (bucket) => having[bucket]),
      companyOf(sums),
      new Float32Array(DIMENSIONS),
    );
    for await (const part of read()) for (const text of part) model.sumOf(text).forEach((value, d) => (model.common[d] += value / texts));
    return model;
  }

  /** As {@link pack} has written it. */
  static unpack(bytes: Buffer): OwnModel {
    if (bytes.readUInt32LE(0) !== FORMAT) throw new Error('This model is of another format');
    const [texts, count] = [bytes.readUInt32LE(4), bytes.readUInt32LE(8)];
    const common = Float32Array.from({ length: DIMENSIONS }, (_, d) => bytes.readFloatLE(HEADER_BYTES + 4 * d));
    const from = HEADER_BYTES + 4 * DIMENSIONS;
    const [words, having, company] = [new Uint16Array(count), new Uint32Array(count), new Int8Array(count * DIMENSIONS)];
    const copied = Buffer.from(company.buffer);
    for (let i = 0; i < count; i++) {
      const at = from + i * WORD_BYTES;
      [words[i], having[i]] = [bytes.readUInt32LE(at), bytes.readUInt32LE(at + 4)];
      bytes.copy(copied, i * DIMENSIONS, at + 8, at + WORD_BYTES);
    }
    return new OwnModel(texts, words, having, company, common);
  }

  /** At most 5.3 MB. */
  pack(): Buffer {
    const bytes = Buffer.alloc(HEADER_BYTES + 4 * DIMENSIONS + this.buckets.length * WORD_BYTES);
    [FORMAT, this.texts, this.buckets.length].forEach((value, i) => bytes.writeUInt32LE(value, 4 * i));
    this.common.forEach((value, d) => bytes.writeFloatLE(value, HEADER_BYTES + 4 * d));
    this.buckets.forEach((bucket, i) => {
      const at = HEADER_BYTES + 4 * DIMENSIONS + i * WORD_BYTES;
      bytes.writeUInt32LE(bucket, at);
      bytes.writeUInt32LE(this.having[i], at + 4);
      Buffer.from(this.company.buffer, i * DIMENSIONS, DIMENSIONS).copy(bytes, at + 8);
    });
    return bytes;
  }

  /** @returns a vector of length 1, and of 0 for a text without words */
  embed(text: string): number[] {
    const sum = this.sumOf(text);
    if (!sum.some(Boolean)) return [...sum];
    return [...normalized(sum.map((value, d) => value - this.common[d]))];
  }

  private sumOf(text: string): Float32Array {
    const sum = new Float32Array(DIMENSIONS);
    for (const [bucket, times] of wordsOf(text)) {
      const word = this.places[bucket] - 1;
      const weight = rarity(this.texts, this.having[word] ?? 1) * (1 + Math.log(times));
      addOwn(sum, bucket, weight / Math.sqrt(OWN_PLACES));
      if (word >= 0) for (let d = 0; d < DIMENSIONS; d++) sum[d] += (weight * this.company[word * DIMENSIONS + d]) / SCALE;
    }
    return normalized(sum);
  }
}

/** Each of length 1 in signed bytes, and without what all have in common. */
function companyOf(sums: Float32Array): Int8Array {
  const count = sums.length / DIMENSIONS;
  const each = Array.from({ length: count }, (_, i) => normalized(sums.slice(i * DIMENSIONS, (i + 1) * DIMENSIONS)));
  const common = new Float32Array(DIMENSIONS);
  for (const vector of each) vector.forEach((value, d) => (common[d] += value / count));
  const company = new Int8Array(sums.length);
  each.forEach((vector, i) => {
    const own = normalized(vector.map((value, d) => value - common[d]));
    for (let d = 0; d < DIMENSIONS; d++) company[i * DIMENSIONS + d] = Math.round(own[d] * SCALE);
  });
  return company;
}
