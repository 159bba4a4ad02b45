import { CanActivate, ExecutionContext, Injectable, type Type } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum';
import { DomainError, type Problem } from '@aps/contracts';
import { validateSync, type ValidationError } from 'class-validator';
import type { Request } from 'express';
import { readJsonBody, type JsonBody } from './body';
import { instantiate, keepsNumbers, queryKindOf, type QueryKind } from './declared-fields';
import { rememberRulesByClass } from './rules-by-class';

rememberRulesByClass();

interface Inputs {
  body?: Type<object>;
  query?: Type<object>;
}

/** The DTO classes that a handler takes as its whole body and its whole query. */
export function inputsOf(controller: Type<unknown>, method: string): Inputs {
  const args = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, method) ?? {}) as Record<string, { index: number; data?: unknown }>;
  const types = (Reflect.getMetadata('design:paramtypes', controller.prototype as object, method) ?? []) as Type<object>[];
  const inputs: Inputs = {};
  for (const [key, { index, data }] of Object.entries(args)) {
    const kind = Number(key.split(':')[0]) as RouteParamtypes;
    const type = types[index];
    if (data !== undefined || !type || (type as unknown) === Object) continue;
    if (kind === RouteParamtypes.BODY) inputs.body = type;
    if (kind === RouteParamtypes.QUERY) inputs.query = type;
  }
  return inputs;
}

const NUL = /\u0000/;

/** So many problems are told; whoever sends more mends these first. */
const MAX_PROBLEMS = 100;

/** What must not enter: PostgreSQL stores neither NUL nor half a surrogate pair. */
function findUnstorable(value: unknown, loc: (string | number)[], problems: Problem[]): void {
  if (problems.length >= MAX_PROBLEMS) return;
  if (typeof value === 'string') {
    if (NUL.test(value)) problems.push({ loc, msg: 'String should not contain NUL characters', type: 'value_error' });
    else if (!value.isWellFormed()) problems.push({ loc, msg: 'String should be valid Unicode', type: 'value_error' });
  } else if (Array.isArray(value)) {
    value.forEach((v, i) => findUnstorable(v, [...loc, i], problems));
  } else if (value && typeof value === 'object') {
    for (const [k, v] of Object.entries(value)) {
      findUnstorable(k, loc, problems);
      findUnstorable(v, [...loc, k], problems);
    }
  }
}

const NUMBER_UNSAFE = 'semantic.number_unsafe';

/** Numbers that would be stored as others: by the time that anybody else looks, they are. */
function findUnsafeNumbers(dto: Type<object>, inexact: JsonBody['inexactNumbers'] = [], problems: Problem[]): void {
  for (const place of inexact) {
    if (!keepsNumbers(dto as new () => object, place)) continue;
    problems.push({ loc: ['body', ...place], msg: 'A double cannot keep this number; send it as a string', type: NUMBER_UNSAFE });
  }
}

/** Reads one query value as its field's kind; text that does not parse stays text, and the validator then says what is wrong. */
function coerce(raw: unknown, kind: QueryKind | undefined): unknown {
  if (kind === 'list') return raw === '' ? [] : Array.isArray(raw) ? raw : [raw];
  const value = Array.isArray(raw) ? (raw.at(-1) as unknown) : raw;
  if (typeof value !== 'string') return value;
  if (kind === 'int' && /^[+-]?\d{1,15}$/.test(value)) return Number(value);
  if (kind === 'number' && value.trim() !== '' && Number.isFinite(Number(value))) return Number(value);
  if (kind === 'bool') return /^(true|1|yes|on)$/i.test(value) ? true : /^(false|0|no|off)$/i.test(value) ? false : value;
  return value;
}

const SHAPE_TYPES = /_(type|parsing)$/;

/** class-validator's tree as the flat list that a 422 carries. Input values are never echoed. */
function flatten(errors: ValidationError[], loc: (string | number)[], problems: Problem[]): void {
  for (const error of errors) {
    if (problems.length >= MAX_PROBLEMS) return;
    const key = Array.isArray(error.target) || /^\d+$/.test(error.property) ? Number(error.property) : error.property;
    const here = [...loc, key];
    const before = problems.length;
    if (error.children?.length) flatten(error.children, here, problems);
    if (!error.constraints) continue;
    if (error.value === undefined) {
      problems.push({ loc: here, msg: 'Field required', type: 'missing' });
      continue;
    }
    const found = Object.entries(error.constraints).map(([name, msg]) => ({
      loc: here,
      msg,
      type: (error.contexts?.[name] as { type?: string } | undefined)?.type ?? 'value_error',
    }));
    // A value of the wrong type also breaks every bound on that type; saying so once is enough.
    const shape = found.find((p) => SHAPE_TYPES.test(p.type));
    if (problems.length > before && shape) continue;
    problems.push(...(shape ? [shape] : found));
  }
}

function check(dto: Type<object>, raw: Record<string, unknown>, place: 'body' | 'query', problems: Problem[]): object {
  const instance = instantiate(dto as new () => object, raw);
  findUnstorable(instance, [place], problems);
  flatten(validateSync(instance, { forbidUnknownValues: false }), [place], problems);
  return instance;
}

/**
 * Reads body and query of a request, checks them against the handler's DTO classes, and replaces them by instances.
 *
 * A guard and not a pipe, because pipes run one by one and the first failing one hides the rest: a 422 lists every problem of
 * the request at once. It runs after the access guard, so nobody learns about a body's shape, or has one held in memory, before being let in.
 */
@Injectable()
export class RequestValidationGuard implements CanActivate {
  private readonly inputs = new WeakMap<object, Inputs>();

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    if (context.getType() !== 'http') return true;
    const handler = context.getHandler();
    let inputs = this.inputs.get(handler);
    if (!inputs) this.inputs.set(handler, (inputs = inputsOf(context.getClass(), handler.name)));
    const request = context.switchToHttp().getRequest<Request>();
    const { query, body } = inputs;
    if (!body) return this.judge(query ? readQuery(request, query) : []);
    // What nobody can read has no problems to list.
    return readJsonBody(request, handler).then((sent) =>
      this.judge([...(query ? readQuery(request, query) : []), ...takeBody(request, body, sent)]),
    );
  }

  private judge(problems: Problem[]): true {
    if (!problems.length) return true;
    const code = problems.every(({ type }) => type === NUMBER_UNSAFE) ? 'number_unsafe' : 'validation_error';
    throw new DomainError(code, 'The request is not valid.', { problems });
  }
}

function readQuery(request: Request, dto: Type<object>): Problem[] {
  const problems: Problem[] = [];
  const raw: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(request.query)) raw[key] = coerce(value, queryKindOf(dto as new () => object, key));
  // Express makes `query` a getter; the instance takes its place for the handler.
  Object.defineProperty(request, 'query', { value: check(dto, raw, 'query', problems), configurable: true });
  return problems;
}

function takeBody(request: Request, dto: Type<object>, { value = {}, problem, inexactNumbers }: JsonBody): Problem[] {
  if (problem) return [problem];
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return [{ loc: ['body'], msg: 'Input should be a valid object', type: 'dict_type' }];
  const problems: Problem[] = [];
  request.body = check(dto, value as Record<string, unknown>, 'body', problems);
  findUnsafeNumbers(dto, inexactNumbers, problems);
  return problems;
}
