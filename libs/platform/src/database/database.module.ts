import { DynamicModule, Global, Injectable, Logger, Module, OnApplicationShutdown } from '@nestjs/common';
import pg from 'pg';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { Database } from './database';
import { databaseConfig } from './database.config';
import { Deletions } from './deletions';
import { sessionLimits, Sessions } from './sessions';
import { answerTimeoutMs } from './statement';

/** Entities and migrations come from the composition root: this library knows no table of a domain. */
export interface SchemaSources {
  entities: DataSourceOptions['entities'];
  migrations?: DataSourceOptions['migrations'];
}

/** The system asks a server that says nothing whether it is still there: by itself only after hours. */
export const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };

/**
 * Builds the data source; also used by the migration tool and the tests.
 *
 * @param overrides `unlimited`: statements may take as long as they need
 */
export function createDataSource(
  sources: SchemaSources,
  overrides: { url?: string; poolSize?: number; applicationName?: string; unlimited?: boolean } = {},
): DataSource {
  const config = databaseConfig.value;
  const sessions = new Sessions(overrides.unlimited ? undefined : sessionLimits());
  return new DataSource({
    type: 'postgres',
    // Named: TypeORM would require it by a name in a variable, where a bundler sees none.
    driver: pg,
    url: overrides.url ?? config.url,
    entities: sources.entities,
    migrations: sources.migrations,
    migrationsTableName: 'schema_migrations',
    applicationName: overrides.applicationName ?? 'aps',
    poolErrorHandler: (error: Error) => new Logger('Database').warn(`An idle connection failed: ${error.message}`),
    extra: {
      max: overrides.poolSize ?? config.poolSize,
      connectionTimeoutMillis: config.connectTimeoutMs,
      idleTimeoutMillis: 30_000,
      ...KEEP_ALIVE,
      query_timeout: answerTimeoutMs(sessions.statementTimeoutMs),
      sessions,
      onConnect: (client: pg.ClientBase) => {
        // Whoever has it at that moment learns of a break by the next query. Between two owners nobody listens, and an error that nobody hears
        // ends the process.
        client.on('error', () => undefined);
        return sessions.begin(client);
      },
    },
  });
}

@Injectable()
class DatabaseShutdown implements OnApplicationShutdown {
  constructor(private readonly database: Database) {}

  onApplicationShutdown(): Promise<void> {
    return this.database.close();
  }
}

/** Provides {@link Database} (and TypeORM's DataSource) to the whole application. */
@Global()
@Module({})
export class DatabaseModule {
  static forRoot(sources: SchemaSources, applicationName?: string): DynamicModule {
    return {
      module: DatabaseModule,
      providers: [
        { provide: DataSource, useFactory: () => createDataSource(sources, { applicationName }).initialize() },
        {
          provide: Database,
          inject: [DataSource],
          useFactory: async (dataSource: DataSource) => {
            const db = new Database(dataSource, (error) =>
              new Logger('Database').error(`A step after a commit failed: ${(error as Error).message}`),
            );
            await db.followClock();
            return db;
          },
        },
        DatabaseShutdown,
        Deletions,
      ],
      exports: [DataSource, Database, Deletions],
    };
  }
}
