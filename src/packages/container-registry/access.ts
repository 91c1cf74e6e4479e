import {
  type Access,
  assertMayInProject,
  findVisibleProject,
  onProject,
  type Project,
} from '../../access/subjects.ts'
import { notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { findRepositoryRow, findTagRow, type RepositoryRow, type TagRow } from './queries.ts'

interface OfRepository {
  readonly project: Project
  readonly repository: RepositoryRow
}

type ImageAbility = 'read_container_images' | 'delete_container_image' | 'admin_container_images'

function idOf(text: string | undefined): number {
  return /^\d{1,15}$/.test(text ?? '') ? Number(text) : 0
}

async function getRepository(ctx: Ctx, id: string | undefined): Promise<RepositoryRow> {
  const repository = await findRepositoryRow(ctx.db, idOf(id))
  if (!repository) throw notFound('Repository')
  return repository
}

/** The repository of images of `:repository_id` in the project of `:id`. */
export function onRepository(ability: ImageAbility): Access<OfRepository> {
  const admitted = onProject(ability)
  return {
    ...admitted,
    async find(request) {
      const { project } = await admitted.find(request)
      const repository = await getRepository(request.ctx, request.path.repository_id)
      if (repository.project_id !== project.id) throw notFound('Repository')
      return { project, repository }
    },
  }
}

/** The repository of `:id` itself, whatever project it is of, for those who may read its images. */
export function onRepositoryAlone(): Access<OfRepository> {
  return {
    kind: 'custom',
    needs: 'read_container_images',
    subjectFirst: true,
    before: () => {},
    async find({ ctx, path }) {
      const repository = await getRepository(ctx, path.id)
      const project = await findVisibleProject(ctx, String(repository.project_id))
      if (!project) throw notFound('Repository')
      assertMayInProject(ctx, project, 'read_container_images')
      return { project, repository }
    },
  }
}

/** The tag of `:tag_name` in such a repository. */
export function onTag(ability: ImageAbility): Access<OfRepository & { readonly tag: TagRow }> {
  const admitted = onRepository(ability)
  return {
    ...admitted,
    async find(request) {
      const of = await admitted.find(request)
      const tag = await findTagRow(request.ctx.db, of.repository.id, request.path.tag_name ?? '')
      if (!tag) throw notFound('Tag')
      return { ...of, tag }
    },
  }
}
