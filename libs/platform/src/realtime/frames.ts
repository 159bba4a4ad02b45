import { isDelta, type MessageDelta, type TopicEvent, type TopicNotice } from '@aps/contracts';

/** The data of an event without what its readers are not to see; the same for all readers of a topic who are not to see all. */
export type Conceal = (data: Record<string, unknown>) => Record<string, unknown>;

/** How a topic and its organization are called in the envelopes of a stream. */
export interface TopicName {
  name: string;
  orgId: string;
  /** What these readers get in the place of an event's data. */
  conceal?: Conceal;
}

// One item is sent to many readers: its text is made once.
const texts = new WeakMap<object, string>();
/** The same for readers of whom something is concealed. */
const concealedTexts = new WeakMap<object, string>();

/** The envelope of a numbered event, as the line `data:` and the end of its frame. The lines before it differ by stream. */
export function envelopeOf(event: TopicEvent, { name, orgId, conceal }: TopicName): string {
  const made = conceal ? concealedTexts : texts;
  let text = made.get(event);
  if (!text) {
    const { type, id, at, data } = event;
    made.set(event, (text = numberedEnvelope(type, id, at, conceal ? conceal(data) : data, name, orgId)));
  }
  return text;
}

/** As {@link envelopeOf}, of the state with which a topic begins. */
export function snapshotEnvelope(newestId: number, data: Record<string, unknown>, { name, orgId }: TopicName, at: Date): string {
  return numberedEnvelope('snapshot', newestId, at.toISOString(), data, name, orgId);
}

function numberedEnvelope(type: string, id: number, at: string, data: Record<string, unknown>, topic: string, org_id: string): string {
  return `data: ${JSON.stringify({ id: String(id), type, topic, org_id, at, data })}\n\n`;
}

/** The whole frame of what has no number: pieces of text, notices. */
export function fleetingFrame(item: MessageDelta | TopicNotice, { name, orgId }: TopicName, at: Date): string {
  let text = texts.get(item);
  if (!text) {
    text = isDelta(item)
      ? unnumberedFrame('message_delta', name, orgId, at, { ...item })
      : unnumberedFrame(item.notice, name, orgId, item.at, item.data);
    texts.set(item, text);
  }
  return text;
}

/** @param topic null for what concerns a stream of several topics as a whole */
export function unnumberedFrame(
  type: string,
  topic: string | null,
  org_id: string,
  at: Date | string,
  data: Record<string, unknown> = {},
): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, topic, org_id, at, data })}\n\n`;
}
