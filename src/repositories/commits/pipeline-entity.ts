import { z } from 'zod'
import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'

/** A pipeline in short, as commits and lists show it. */
export const pipelineBasicEntity = z.strictObject({
  id: z.int(),
  iid: z.int(),
  project_id: z.int(),
  sha: z.string(),
  ref: z.string(),
  status: z.string(),
  source: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  web_url: z.string(),
  name: z.string().nullable(),
})

export type PipelineBasic = z.input<typeof pipelineBasicEntity>

/** The columns that `presentPipelineBasic` reads. */
type PipelineBasicRow = Readonly<Omit<PipelineBasic, 'web_url'>>

export function presentPipelineBasic(
  ctx: Pick<Ctx, 'config'>,
  project: Pick<Project, 'full_path'>,
  row: PipelineBasicRow,
): PipelineBasic {
  const { id, iid, project_id, sha, ref, status, source, created_at, updated_at, name } = row
  const web_url = `${ctx.config.externalUrl}/${project.full_path}/-/pipelines/${id}`
  return { id, iid, project_id, sha, ref, status, source, created_at, updated_at, web_url, name }
}
