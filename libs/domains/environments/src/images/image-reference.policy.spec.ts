import { isAllowed, normalText, readReference, registryList } from './image-reference.policy';

const DIGEST = `sha256:${'0a'.repeat(32)}`;

it.each([
  ['alpine', 'docker.io/library/alpine'],
  ['alpine:3.20', 'docker.io/library/alpine:3.20'],
  ['tools/shell', 'docker.io/tools/shell'],
  ['index.docker.io/alpine', 'docker.io/library/alpine'],
  ['GHCR.io/a/b__c/d--e', 'ghcr.io/a/b__c/d--e'],
  ['localhost/a', 'localhost/a'],
  ['localhost:5000/a:1', 'localhost:5000/a:1'],
  ['[::1]:5000/a', '[::1]:5000/a'],
  [`quay.io/a/b:T_1.x@${DIGEST}`, `quay.io/a/b:T_1.x@${DIGEST}`],
])('reads %s as %s', (written, text) => {
  const read = readReference(written);
  expect('reference' in read && normalText(read.reference)).toBe(text);
});

it.each([
  ['', 'name'],
  ['/a', 'name'],
  ['a//b', 'name'],
  ['a/', 'name'],
  ['a___b', 'name'],
  ['a-', 'name'],
  ['a/B', 'name'],
  ['a b', 'name'],
  ['a\n', 'name'],
  ['https://ghcr.io/a', 'registry'],
  ['user:secret@ghcr.io/a', 'digest'],
  ['-a.io/b', 'registry'],
  ['a.io:0/b', 'registry'],
  ['a.io:65536/b', 'registry'],
  ['a..io/b', 'registry'],
  ['../../v2/a', 'registry'],
  ['a:', 'tag'],
  ['a:.x', 'tag'],
  ['a:b:c', 'tag'],
  [`a:${'t'.repeat(129)}`, 'tag'],
  ['a@', 'digest'],
  ['a@sha256:00', 'digest'],
  [`a@${DIGEST.toUpperCase()}`, 'digest'],
  [`a@${DIGEST}@${DIGEST}`, 'digest'],
  [`q.io/${'a'.repeat(256)}`, 'name'],
  ['a'.repeat(513), 'characters'],
])('refuses %j for its %s', (written, what) => {
  const read = readReference(written);
  expect('problem' in read && read.problem).toContain(what);
});

it('lets a registry in by its exact host and port, or by the labels before it', () => {
  const list = registryList.parse(' docker.io, Hub.example:5000 ,*.pkg.dev,');
  const lets = (registry: string) => isAllowed(registry, list);
  expect(['docker.io', 'hub.example:5000', 'eu.pkg.dev', 'a.b.pkg.dev'].filter((of) => !lets(of))).toEqual([]);
  const others = [
    'docker.io:443',
    'a.docker.io',
    'docker.io.evil',
    'hub.example',
    'hub.example:5001',
    'pkg.dev',
    'evilpkg.dev',
    'a.pkg.dev:80',
  ];
  expect(others.filter(lets)).toEqual([]);
});

it.each(['https://docker.io', 'docker.io/library', 'docker.io:x', '*', '*.a:80', 'a.*.b', 'a b'])('takes %j for no registry', (entry) =>
  expect(registryList.safeParse(`ghcr.io,${entry}`).success).toBe(false),
);
