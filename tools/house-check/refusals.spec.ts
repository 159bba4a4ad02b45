import path from 'node:path';
import { buildDocument, codesOf, operationsOf, type Document } from './testing/document';
import { sourceProgram } from './testing/program';
import { allRoutes, templateOf, type Route } from './testing/surface';
import { ThrownCodes } from './testing/thrown-codes';

/** Codes that are written behind a handler and are never its answer. */
const NOT_ANSWERED: Record<string, string[]> = {
  // What the chat waits for, told as a fact.
  'ChatControlController.diagnosis': ['agent_deleted', 'budget_exceeded', 'credits_exhausted'],
  'AdminOrgsController.diagnose': ['budget_exceeded', 'credits_exhausted'],
  // What would keep the message's turn, told by a quote.
  'ChatsController.send': ['budget_exceeded', 'credits_exhausted'],
  // The caller's own row.
  'AuthController.updateMe': ['user_not_found'],
  // A new owner's organization has a slug that is free, and is their first.
  'AuthController.signup': ['slug_taken', 'entitlement_exceeded'],
  'OidcController.session': ['slug_taken', 'entitlement_exceeded', 'invitation_email_mismatch'],
  'EmailProofController.verify': ['slug_taken', 'entitlement_exceeded', 'not_found', 'invitation_email_mismatch'],
  'InvitationLinksController.accept': ['slug_taken', 'entitlement_exceeded'],
  // What was just made is there.
  'OrganizationsController.create': ['not_found'],
  'PlatformAdminsController.add': ['not_found'],
  'AllowedEmailsController.add': ['not_found'],
  // Its channels are made without a configuration.
  'InboxesController.create': ['masked_secret'],
  // One table says of every action what refuses it, and a diagnosis tells what may be done; what its chat waits for is told as a fact.
  'MessagesController.diagnosis': [
    ...['agent_deleted', 'budget_exceeded', 'credits_exhausted'],
    ...['not_held', 'payload_expired', 'still_evaluating'],
  ],
  'MessagesController.replay': ['not_held', 'still_evaluating'],
  'MessagesController.release': ['still_evaluating'],
  'MessagesController.terminate': ['not_held', 'payload_expired', 'still_evaluating'],
  // An event of its stream says it; and a budget is of what chats spend.
  'PromptTemplatesController.test': ['internal_error', 'budget_exceeded'],
  // The organization's budget is of what chats spend.
  'DraftChecksController.check': ['budget_exceeded'],
  'SimulationsController.start': ['budget_exceeded'],
  // What closes a gate has it search by words alone.
  'KnowledgeSearchController.search': ['budget_exceeded', 'credits_exhausted'],
  'KnowledgeSearchController.searchOne': ['budget_exceeded', 'credits_exhausted'],
  // Who is let in again was shut out, and is not the last one who can act.
  'AdminUsersController.reactivate': ['last_admin'],
};

/** Codes that are answered and written nowhere: what names them is bound to a port elsewhere. */
const FROM_OUTSIDE: Record<string, string[]> = {
  // By what stands before the handler.
  'HooksController.receive': ['method_not_allowed'],
  // By the provider that the path names.
  'HooksController.receiveMail': ['bad_signature', 'upstream_unavailable'],
};

let document: Document;
let routes: Route[];
let thrown: ThrownCodes;

beforeAll(async () => {
  [document, routes] = [await buildDocument(), (await allRoutes()).filter(({ operation }) => operation)];
  thrown = new ThrownCodes(sourceProgram(path.join(__dirname, '../..')));
});

const listed = (codes: Record<string, string[]>, handler: string): string[] => codes[handler] ?? [];

describe('what an operation refuses', () => {
  it('is declared beside every documented handler', () => {
    const declared = new Set(routes.map(({ method, path: p }) => `${method} ${templateOf(p)}`));
    const documented = operationsOf(document).map(({ method, path: p }) => `${method} ${p}`);
    expect(documented.filter((name) => !declared.has(name))).toEqual([]);
  });

  it('is documented with every code that the code behind it can throw', () => {
    const silent = routes.flatMap(({ method, path: p, handler }) => {
      const documented = [...codesOf(document.paths[templateOf(p)][method.toLowerCase()]), ...listed(NOT_ANSWERED, handler)];
      return [...thrown.of(handler)].filter(([code]) => !documented.includes(code)).map(([code, way]) => `${code}: ${way}`);
    });
    expect(silent).toEqual([]);
  });

  it('is thrown somewhere behind it', () => {
    const idle = routes.flatMap(({ handler, operation }) => {
      const known = [...thrown.of(handler).keys(), ...listed(FROM_OUTSIDE, handler)];
      return (operation?.refuses ?? []).filter((code) => !known.includes(code)).map((code) => `${handler} ${code}`);
    });
    expect(idle).toEqual([]);
  });

  it('has no exception that is none', () => {
    const odd = Object.entries(NOT_ANSWERED).flatMap(([handler, codes]) => codes.filter((code) => !thrown.of(handler).has(code)));
    expect([
      ...odd,
      ...Object.entries(FROM_OUTSIDE).flatMap(([handler, codes]) => codes.filter((code) => thrown.of(handler).has(code))),
    ]).toEqual([]);
  });
});
