import {
  challengeParameter,
  isPartOf,
  isSameIssuer,
  resourceMetadataUrls,
  ServerMetadata,
  serverMetadataUrls,
  TokenAnswer,
} from './metadata';

it('looks for metadata at the well-known places', () => {
  expect(resourceMetadataUrls(new URL('https://tools.example/team/mcp'))).toEqual([
    'https://tools.example/.well-known/oauth-protected-resource/team/mcp',
    'https://tools.example/.well-known/oauth-protected-resource',
  ]);
  expect(resourceMetadataUrls(new URL('https://tools.example'))).toEqual(['https://tools.example/.well-known/oauth-protected-resource']);
  expect(serverMetadataUrls(new URL('https://auth.example/tenant/'))).toEqual([
    'https://auth.example/.well-known/oauth-authorization-server/tenant',
    'https://auth.example/.well-known/openid-configuration/tenant',
    'https://auth.example/tenant/.well-known/openid-configuration',
  ]);
  expect(serverMetadataUrls(new URL('https://auth.example'))).toEqual([
    'https://auth.example/.well-known/oauth-authorization-server',
    'https://auth.example/.well-known/openid-configuration',
  ]);
});

it.each([
  ['Bearer resource_metadata="https://a.example/m"', 'https://a.example/m'],
  ['Bearer realm="x", resource_metadata=https://a.example/m, scope="a b"', 'https://a.example/m'],
  ['Basic realm="x", Bearer RESOURCE_METADATA="https://a.example/m"', 'https://a.example/m'],
  ['Bearer error_resource_metadata="https://a.example/m"', undefined],
  ['Bearer', undefined],
  ['', undefined],
])('reads %p', (challenge, url) => {
  expect(challengeParameter(challenge, 'resource_metadata')).toBe(url);
});

it.each([
  ['https://a.example/mcp', 'https://a.example/mcp', true],
  ['https://a.example/mcp/sse?x=1', 'https://a.example/mcp', true],
  ['https://a.example/mcp', 'https://a.example', true],
  ['https://a.example/mcp2', 'https://a.example/mcp', false],
  ['https://a.example/', 'https://a.example/mcp', false],
  ['https://b.example/mcp', 'https://a.example/mcp', false],
  ['https://a.example:8443/mcp', 'https://a.example/mcp', false],
])('%s is part of %s: %p', (server, resource, is) => {
  expect(isPartOf(new URL(server), new URL(resource))).toBe(is);
});

it('tells issuers apart, but for a closing slash', () => {
  expect(isSameIssuer('https://a.example', 'https://a.example/')).toBe(true);
  for (const other of ['https://A.example', 'https://a.example/x', 'http://a.example'])
    expect(isSameIssuer('https://a.example', other)).toBe(false);
});

it.each(['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', 'app://open', '/authorize'])('sends nobody to %s', (url) => {
  const metadata = { issuer: 'https://a.example', authorization_endpoint: 'https://a.example/a', token_endpoint: 'https://a.example/t' };
  expect(ServerMetadata.safeParse(metadata).success).toBe(true);
  expect(ServerMetadata.safeParse({ ...metadata, authorization_endpoint: url }).success).toBe(false);
});

it('takes bearer tokens that can stand in a header, and how long they last where that is told', () => {
  const answer = { access_token: 'a.b-c', token_type: 'Bearer' };
  expect(TokenAnswer.parse({ ...answer, expires_in: '60' })).toMatchObject({ expires_in: 60 });
  for (const expires_in of [undefined, null, 'soon', -1])
    expect(TokenAnswer.parse({ ...answer, expires_in }).expires_in ?? null).toBeNull();
  for (const odd of [{ access_token: 'a\r\nHost: b' }, { access_token: '' }, { token_type: 'mac' }, { refresh_token: 'a b' }])
    expect(TokenAnswer.safeParse({ ...answer, ...odd }).success).toBe(false);
});
