import type { ContextType, NestInterceptor } from '@nestjs/common';
import { InterceptorsConsumer } from '@nestjs/core/interceptors/interceptors-consumer';
import type { Request } from 'express';

/** An interceptor that has nothing to do with most requests, and can tell by looking at them. */
export interface SelectiveInterceptor extends NestInterceptor {
  /** Whether to take part in the request. Asked behind the guards. */
  concerns(request: Request): boolean;
}

const isConcerned = (interceptor: NestInterceptor & Partial<SelectiveInterceptor>, request: Request): boolean =>
  !interceptor.concerns || interceptor.concerns(request);

let installed = false;

/**
 * Leaves interceptors out that a request does not concern, in every application of the process. Nest leads each call of a handler with
 * interceptors through observables and bound contexts, which costs as much as all else that it does for a small request, for a header
 * that few messages carry. Without interceptors it calls the handler. See docs/adr/0016-interceptors-that-are-left-out.md.
 */
export function installSelectiveInterceptors(): void {
  if (installed) return;
  installed = true;
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with its object below
  const intercept = InterceptorsConsumer.prototype.intercept;
  InterceptorsConsumer.prototype.intercept = function <T extends string = ContextType>(
    this: InterceptorsConsumer,
    ...[interceptors, args, instance, callback, next, type]: Parameters<typeof intercept<T>>
  ): Promise<unknown> {
    const concerned = type === 'http' ? interceptors.filter((interceptor) => isConcerned(interceptor, args[0] as Request)) : interceptors;
    return intercept.call(this, concerned, args, instance, callback, next, type as ContextType) as Promise<unknown>;
  };
}
