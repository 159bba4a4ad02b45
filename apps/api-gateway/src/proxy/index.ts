import { Module } from '@nestjs/common';
import { InternalTokenModule } from '@aps/platform/crypto';
import { adminProxy } from './admin.proxy';
import { hooksProxy } from './hooks.proxy';
import type { ProxiedPath } from './proxied-path';
import { proxyController } from './proxy.controller';
import { webhooksProxy } from './webhooks.proxy';

/** Every path that the gateway proxies. */
export const PROXIED_PATHS: readonly ProxiedPath[] = [adminProxy, webhooksProxy, hooksProxy];

/** Prefixes whose bodies the gateway must not parse: it streams them. */
export const PROXIED_PREFIXES: readonly string[] = PROXIED_PATHS.map((proxied) => proxied.prefix);

@Module({ imports: [InternalTokenModule], controllers: PROXIED_PATHS.map(proxyController) })
export class ProxyModule {}
