import { insideWorkspace } from './paths.policy';

it.each([
  ['a.txt', '/workspace/a.txt'],
  ['/workspace/a/../b', '/workspace/b'],
  ['.', '/workspace'],
  ['/workspace', '/workspace'],
  ['..', null],
  ['/etc/passwd', null],
  ['a/../../etc', null],
  ['/workspaces/a', null],
  ['/workspace/../workspace2', null],
  ['a\0b', null],
])('%j is %j', (given, place) => {
  expect(insideWorkspace(given)).toBe(place);
});
