import type { Project } from '../../access/subjects.ts'
import { badRequest, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { RequestFacts } from '../../http/endpoint.ts'
import { findInstallable } from '../registry/find.ts'
import { readSmallBody } from '../registry/receive.ts'
import { deleteTag, putTag } from '../registry/tags.ts'
import { assertTag } from './document.ts'

/** What `npm dist-tag add` asks: the body is the version, as a JSON text; the first project that has it gets the tag. */
export async function putNpmTag(
  ctx: Ctx,
  projects: readonly Project[],
  name: string,
  tag: string,
  request: Pick<RequestFacts, 'body'>,
): Promise<void> {
  assertTag(tag)
  const version = readVersion((await readSmallBody(request, 1024)).toString('utf8'))
  const key = { type: 'npm', nameKey: name, versionKey: version } as const
  for (const project of projects) {
    const row = await findInstallable(ctx, project, key)
    if (row) return await putTag(ctx, project, row, tag)
  }
  throw notFound('Package')
}

function readVersion(text: string): string {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'string') return value
  } catch {}
  throw badRequest('The body must be a version as a JSON text')
}

/** What `npm dist-tag rm` asks: the tag goes from every one of the projects. */
export async function deleteNpmTag(
  ctx: Ctx,
  projects: readonly Project[],
  name: string,
  tag: string,
): Promise<void> {
  let isGone = false
  for (const project of projects) {
    const at = { project_id: project.id, package_type: 'npm', name_key: name } as const
    isGone = (await deleteTag(ctx, project, at, tag)) || isGone
  }
  if (!isGone) throw notFound('Package tag')
}
