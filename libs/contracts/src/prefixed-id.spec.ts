import { connectionId, connectionUuid } from './prefixed-id';

describe('ids of connections', () => {
  const UUID = '0199c0de-7abc-7def-8123-456789abcdef';

  it.each([UUID, '00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'])('stand for %s, and back', (uuid) => {
    const id = connectionId(uuid);
    expect(id).toMatch(/^con_[0-9a-hjkmnp-tv-z]{26}$/);
    expect([connectionUuid(id), connectionUuid(uuid.toUpperCase())]).toEqual([uuid, uuid]);
  });

  it.each([
    '',
    'con_',
    'x',
    `inb_${connectionId(UUID).slice(4)}`,
    `con_8${'z'.repeat(25)}`,
    connectionId(UUID).toUpperCase(),
    `con_${'u'.repeat(26)}`,
  ])('are not %j', (text) => expect(connectionUuid(text)).toBeUndefined());
});
