import { Problem } from '../../../base/problem.ts'
import { call } from '../../../http/call/call.ts'
import { getRepositoryBranch } from '../../../repositories/branches/endpoints.ts'
import { apiPath, withQuery } from '../../address.ts'
import type { PageCtx } from '../../page-ctx.ts'
import type { ProjectData } from '../../project/frame.tsx'
import { projectPage } from '../../project/frame.tsx'
import { PathLine } from '../path-line.tsx'
import { type Place, placeFor, placeOf } from '../place.ts'
import { isText, readContent, readFacts } from '../read-blob.ts'
import { EditForm } from './edit-form.tsx'
import { type EditedFile, type EditKind, editKinds } from './edit-kinds.ts'
import { editsWhere } from './own-fork.ts'

/** The page of one way to change files. */
function editPage(kind: EditKind) {
  return projectPage({
    address: `/-/${kind.name}/*ref_path`,
    summary: `${kind.title}: a change of files as a commit`,
    tab: 'code',
    signedIn: true,
    // What the form is about: the file, or the folder that gets one.
    async api({ project, ...given }, ctx) {
      const refPath = String((given as { ref_path?: string }).ref_path)
      const { ref, path } = await placeFor(ctx, project, refPath)
      return kind.ofFile
        ? withQuery(apiPath(project, 'repository', 'files', path), { ref })
        : withQuery(apiPath(project, 'repository', 'tree'), { ref, path })
    },
    async read(ctx, { project, ...given }) {
      // Who may push nowhere is refused before they write anything.
      const where = await editsWhere(ctx, project)
      if (where === 'nowhere') throw new Problem('forbidden', 403, { message: '403 Forbidden' })
      const place = await placeOf(ctx, project, String((given as { ref_path?: string }).ref_path))
      const [file, branch] = await Promise.all([
        kind.ofFile ? readEdited(ctx, project, place) : undefined,
        pushableBranch(ctx, project, place.ref),
      ])
      return { place, file, ...branch, inFork: where === 'fork' }
    },
    title: ({ place }) => (place.path === '' ? kind.title : `${kind.title} · ${place.path}`),
    view: (edited, project) => (
      <div class="stack">
        <h1>{kind.title}</h1>
        <PathLine project={project} place={edited.place} />
        <EditForm kind={kind} project={project} edited={edited} />
      </div>
    ),
  })
}

/** The file as it is now. One that is gone since a form was sent is made again by sending it once more. */
async function readEdited(
  ctx: PageCtx,
  project: ProjectData,
  place: Place,
): Promise<EditedFile | undefined> {
  try {
    const facts = await readFacts(ctx, project, place)
    const content = await readContent(ctx, project, place, facts)
    const text = content && isText(content.bytes) ? content.bytes.toString('utf8') : undefined
    return { lastCommit: facts.lastCommit, text }
  } catch (error) {
    const isGone = error instanceof Problem && error.code === 'not_found'
    if (isGone && ctx.request.method === 'POST') return undefined
    throw error
  }
}

/** The branch itself where this person may push to it, else the name of a new one. */
async function pushableBranch(ctx: PageCtx, project: ProjectData, ref: string) {
  const path = { id: project.id, branch: ref }
  const branch = await call(getRepositoryBranch, ctx, { path }).catch((error: unknown) => {
    if (error instanceof Problem && error.code === 'not_found') return undefined
    throw error
  })
  const name = ctx.actor.kind === 'user' ? ctx.actor.user.username : 'patch'
  const fresh = `${name}-${ctx.now().replaceAll(/\D/g, '').slice(2, 14)}`
  return { branch: branch?.can_push ? branch.name : fresh, isBranch: branch !== undefined }
}

export const editPages = editKinds.map((kind) => ({ kind, page: editPage(kind) }))
