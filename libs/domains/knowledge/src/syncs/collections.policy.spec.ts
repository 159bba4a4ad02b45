import { collectionOf, collectionsOf } from './collections.policy';

describe('collections', () => {
  it.each([
    ['notes://demo/a/b?x=1', 'notes://demo'],
    ['Notes://Demo', 'notes://demo'],
    ['https://example.com:8443/a', 'https://example.com:8443'],
    ['file:///etc/motd', 'file://'],
    ['urn:isbn:12', 'urn://'],
    ['no address', null],
    ['://nothing', null],
    [`notes://demo/${'ü'.repeat(1_100)}`, null],
  ])('%s belongs to %s', (uri, collection) => expect(collectionOf(uri)).toBe(collection));

  it('are the resources of one scheme and one authority, by their ids', () => {
    const resource = (uri: string) => ({ uri, name: uri, media_type: null, modified: null });
    const found = collectionsOf(['b://1/x', 'a://1/x', 'b://1/y', 'no address'].map(resource));
    expect(found.map(({ id, resources }) => [id, resources.map(({ uri }) => uri)])).toEqual([
      ['a://1', ['a://1/x']],
      ['b://1', ['b://1/x', 'b://1/y']],
    ]);
  });
});
