import { call } from '../../http/call/call.ts'
import { integer } from '../../http/params.ts'
import { listLastCommits } from '../../repositories/commits/folder-endpoints.ts'
import { withQuery } from '../address.ts'
import { useShown } from '../context.ts'
import { fragment } from '../fragment.ts'
import type { PageCtx } from '../page-ctx.ts'
import { A, addressIn } from '../parts/link.tsx'
import { type ProjectData, readProjectFrame } from '../project/frame.tsx'
import { type CommitsOfEntries, Files, type FilesProps, readPart } from './files.tsx'
import { type Place, placeAddress, placeOf } from './place.ts'

/** The entries of a folder with the last commit of each, as far as one page shows them. */
export async function readLastCommits(
  ctx: PageCtx,
  project: ProjectData,
  { ref, path }: Place,
  part = 1,
) {
  const { entries } = await readPart(part, (asked) =>
    call(listLastCommits, ctx, { path: { id: project.id }, query: { ref, path, ...asked } }),
  )
  return entries
}

/** By the path of the entry. */
export function commitsOf(entries: Awaited<ReturnType<typeof readLastCommits>>): CommitsOfEntries {
  return new Map(entries.flatMap(({ path, commit }) => (commit ? [[path, commit]] : [])))
}

/** The rows of a folder at once; who last changed each comes when it is there. */
export function FilesWithCommits({ part, ...props }: FilesProps & { part?: number | undefined }) {
  const { project, place, commits } = props
  const of = { part: part === 1 ? undefined : part }
  const shown = useShown()
  if (commits || props.entries.length === 0) return <Files {...props} />
  const address = placeAddress(project, 'tree_commits', place)
  return (
    <div data-load={addressIn(shown, withQuery(address, of))}>
      <Files {...props} />
      <noscript>
        <A href={withQuery(placeAddress(project, 'tree', place), { ...of, commits: 1 })}>
          Show the last commits
        </A>
      </noscript>
    </div>
  )
}

export const lastCommitsFragment = fragment({
  address: '/*project/-/tree_commits/*ref_path',
  summary: 'The files of a folder with their last commits',
  query: { part: integer({ min: 1 }).default(1) },
  async read(ctx, given) {
    const { project } = await readProjectFrame(ctx, given.project)
    const place = await placeOf(ctx, project, given.ref_path)
    return {
      project,
      place,
      entries: await readLastCommits(ctx, project, place, given.query.part),
    }
  },
  view: ({ project, place, entries }) => (
    <Files project={project} place={place} entries={entries} commits={commitsOf(entries)} />
  ),
})
