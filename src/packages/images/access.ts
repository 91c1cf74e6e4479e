import type { ProjectAbility } from '../../access/abilities.ts'
import { mayInProject } from '../../access/decide.ts'
import {
  type Access,
  assertMayInProject,
  findVisibleProject,
  type Project,
} from '../../access/subjects.ts'
import { notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { challenging } from '../registry/access.ts'
import { isImageName } from './names.ts'
import { imageClient } from './problem.ts'

/** A name of images: a project, and what follows its path. */
export interface ImageName {
  readonly project: Project
  /** Below the project; empty at its own path. */
  readonly below: string
  /** The whole of it. */
  readonly full: string
}

type ImageAbility = Extract<
  ProjectAbility,
  'read_container_images' | 'write_container_image' | 'delete_container_image'
>

export const imageRead = {
  host: true,
  client: imageClient,
  jobToken: true,
  scopes: ['api', 'read_api', 'read_registry', 'write_registry'],
  deployToken: ['read_registry', 'write_registry'],
} as const

export const imageWrite = {
  host: true,
  client: imageClient,
  jobToken: true,
  scopes: ['api', 'write_registry'],
  deployToken: ['write_registry'],
} as const

/** The images of the name in the path, for those who may do this in the project that it begins with. */
export function onImage(ability: ImageAbility): Access<{ image: ImageName }> {
  return challenging({
    kind: 'custom',
    needs: ability,
    subjectFirst: true,
    before: () => {},
    async find(request) {
      const image = await findImage(request.ctx, request.path.name ?? '')
      if (!image) throw notFound('Repository')
      assertMayInProject(request.ctx, image.project, ability)
      return { image }
    },
  })
}

/** The images of a name that the caller may read; undefined for all others. */
export async function findReadableImage(ctx: Ctx, full: string): Promise<ImageName | undefined> {
  const image = await findImage(ctx, full)
  return image && mayInProject(ctx.actor, image.project, 'read_container_images')
    ? image
    : undefined
}

/** The project with the longest path that a name begins with; a path has two parts at least. */
async function findImage(ctx: Ctx, full: string): Promise<ImageName | undefined> {
  if (!isImageName(full)) return undefined
  const parts = full.split('/')
  for (let end = Math.min(parts.length, 22); end >= 2; end--) {
    const project = await findVisibleProject(ctx, parts.slice(0, end).join('/'))
    if (project) return { project, below: parts.slice(end).join('/'), full }
  }
  return undefined
}
