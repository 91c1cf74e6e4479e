import { z } from 'zod'
import type { Ctx } from '../../ctx.ts'
import { presentUserBasic, userBasicEntity } from '../users/basic.ts'
import type { findTodo } from './queries.ts'
import { findTodoContext } from './queries.ts'

const namedEntity = z.strictObject({
  id: z.int(),
  description: z.string().nullable(),
  name: z.string(),
  name_with_namespace: z.string(),
  path: z.string(),
  path_with_namespace: z.string(),
  created_at: z.string(),
})

export const todoEntity = z.strictObject({
  id: z.int(),
  project: namedEntity.nullable(),
  author: userBasicEntity.nullable(),
  action_name: z.string(),
  target_type: z.string(),
  target: z.strictObject({
    id: z.int(),
    iid: z.int(),
    project_id: z.int(),
    title: z.string(),
    description: z.string().nullable(),
    state: z.string(),
    created_at: z.string(),
    updated_at: z.string(),
    web_url: z.string(),
  }),
  target_url: z.string(),
  body: z.string(),
  state: z.enum(['pending', 'done']),
  created_at: z.string(),
  updated_at: z.string(),
})

export type TodoRow = NonNullable<Awaited<ReturnType<typeof findTodo>>>

/** A to-do with what it is about (spec D §1.29). */
export async function presentTodo(ctx: Ctx, row: TodoRow): Promise<z.input<typeof todoEntity>> {
  const { project, author, target, note } = await findTodoContext(ctx.db, row)
  const kind = row.target_type === 'Issue' ? 'issues' : 'merge_requests'
  const url = `${ctx.config.externalUrl}/${project?.full_path ?? ''}/-/${kind}/${target?.iid ?? 0}`
  return {
    id: row.id,
    project: project
      ? {
          id: project.id,
          description: project.description,
          name: project.name,
          name_with_namespace: `${project.namespace_name} / ${project.name}`,
          path: project.path,
          path_with_namespace: project.full_path,
          created_at: project.created_at,
        }
      : null,
    author: author ? presentUserBasic(ctx, author) : null,
    action_name: row.action_name,
    target_type: row.target_type,
    target: {
      id: row.target_id,
      iid: target?.iid ?? 0,
      project_id: row.project_id ?? 0,
      title: target?.title ?? '',
      description: target?.description ?? null,
      state: target?.state ?? 'closed',
      created_at: target?.created_at ?? row.created_at,
      updated_at: target?.updated_at ?? row.updated_at,
      web_url: url,
    },
    target_url: row.note_id === null ? url : `${url}#note_${row.note_id}`,
    body: note?.body ?? target?.title ?? '',
    state: row.state,
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}
