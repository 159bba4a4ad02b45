import { Injectable } from '@nestjs/common';
import { MAX_MEMORY_BYTES, MemoriesService, SkillFiles, SkillsService } from '@aps/agents';
import { OrgScope } from '@aps/guards';
import { Database } from '@aps/platform/database';
import { defineTool, fitting, MAX_READ, partToRead, ToolCatalog, toolError, toolResult } from '@aps/tools';
import { z } from 'zod';
import { TodoRepository } from './todo.repository';

const MAX_WAIT_DAYS = 30;
const dayMs = 86_400_000;

/** The tools that every agent has and that need nothing outside this service. */
@Injectable()
export class CoreTools {
  constructor(
    db: Database,
    catalog: ToolCatalog,
    todos: TodoRepository,
    memories: MemoriesService,
    skills: SkillsService,
    skillFiles: SkillFiles,
  ) {
    catalog.register(
      defineTool({
        slug: 'todo_write',
        name: 'todo_write',
        description:
          'Replaces your list of todos in this chat. Use it for work of several steps, and keep it current: exactly one todo should be in_progress.',
        scope: 'core',
        accessLevel: 'write',
        parameters: z.object({
          todos: z
            .array(
              z.object({
                id: z.uuid().optional().describe('Of a todo that you have written before; leave it out for a new one'),
                title: z.string().min(1).max(500),
                status: z.enum(['pending', 'in_progress', 'completed']),
              }),
            )
            .max(100),
        }),
        async run(tx, { todos: wanted }, context) {
          const written = await todos.replace(tx, OrgScope.system(context.orgId, 'tool todo_write'), context.chatId, wanted);
          const list = { todos: written.map(({ id, title, status }) => ({ id, title, status })) };
          return toolResult(list, [{ type: 'todo_updated', data: list }]);
        },
      }),
      defineTool({
        slug: 'wait_until',
        name: 'wait_until',
        description: `Pauses this chat until a time, at most ${MAX_WAIT_DAYS} days ahead. Give exactly one of \`at\` and \`for_s\`.`,
        scope: 'core',
        accessLevel: 'read',
        waitsFor: 'timer',
        parameters: z
          .object({
            at: z.iso.datetime({ offset: true }).optional().describe('RFC 3339 time'),
            for_s: z
              .number()
              .int()
              .min(1)
              .max(MAX_WAIT_DAYS * 86_400)
              .optional()
              .describe('Seconds from now'),
          })
          .refine((v) => (v.at === undefined) !== (v.for_s === undefined), 'give exactly one of at and for_s'),
        run(_tx, { at, for_s }) {
          const now = db.now().getTime();
          const until = at !== undefined ? Date.parse(at) : now + (for_s ?? 0) * 1000;
          if (until > now + MAX_WAIT_DAYS * dayMs) {
            return Promise.resolve(toolError(`That is more than ${MAX_WAIT_DAYS} days ahead.`));
          }
          if (until <= now) return Promise.resolve(toolResult({ status: 'elapsed', at: new Date(until).toISOString() }));
          return Promise.resolve({ kind: 'wait', resumeAt: new Date(until) });
        },
      }),
      defineTool({
        slug: 'memory_write',
        name: 'memory_write',
        description: 'Remembers something for your later chats. Write one fact that stays true, in one or two sentences.',
        scope: 'core',
        accessLevel: 'write',
        availableTo: (agent) => agent.memory_enabled,
        parameters: z.object({
          content: z
            .string()
            .min(1)
            .max(MAX_MEMORY_BYTES)
            .refine((content) => Buffer.byteLength(content) <= MAX_MEMORY_BYTES, `take at most ${MAX_MEMORY_BYTES} bytes of UTF-8`),
        }),
        async run(tx, { content }, context) {
          const scope = OrgScope.system(context.orgId, 'tool memory_write');
          const memory = await memories.add(tx, scope, { owner: { kind: 'agent', id: context.agentId }, content, source: 'agent' });
          const written = { id: memory.id, status: 'remembered' };
          return toolResult(written, [{ type: 'memory_written', data: written }]);
        },
      }),
      defineTool({
        slug: 'skill_read',
        name: 'skill_read',
        description: 'Reads a skill that is mounted on you, or one of its files, or a part of either.',
        scope: 'core',
        accessLevel: 'read',
        availableTo: (agent) => agent.mounted_skills.length > 0,
        parameters: z.object({
          slug: z.string().min(1).max(64),
          file: z.string().min(1).max(255).optional().describe('Name of one of its files; without it, what the skill itself says'),
          ...partToRead,
        }),
        // Not in a transaction: files lie elsewhere.
        async callOut({ slug, file, from, to }, context) {
          const scope = OrgScope.system(context.orgId, 'tool skill_read');
          const mounted = context.tools.grants.mounted_skills.includes(slug);
          const [skill] = mounted ? await skills.bySlugs(db, scope, [slug]) : [];
          if (!skill) return toolError(`There is no skill ${slug}.`);
          const found = await skillFiles.named(scope, skill.files);
          const files = [...found.keys()];
          const row = file === undefined ? undefined : found.get(file);
          if (file !== undefined && !row) return toolError(`The skill ${slug} has no file ${file}; it has ${JSON.stringify(files)}.`);
          const { content, lacks } = row ? await skillFiles.read(row) : { content: skill.content, lacks: undefined };
          if (content === undefined) return toolError(`The file ${file} cannot be read: ${lacks?.what}.`);
          const points = [...content];
          const asked = points.slice(from, Math.min(to ?? Infinity, from + MAX_READ));
          const around = { slug, ...(row && { file }), files, ...(lacks && { remark: lacks.what }) };
          const text = fitting(asked, 2, JSON.stringify(around).length);
          const answer = { ...around, from, to: from + text.length, characters: points.length, text: text.join('') };
          return toolResult(answer);
        },
      }),
    );
  }
}
