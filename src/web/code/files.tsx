import { call } from '../../http/call/call.ts'
import { getTree } from '../../repositories/repository/endpoints.ts'
import { useShown } from '../context.ts'
import type { PageCtx } from '../page-ctx.ts'
import type { CommitFacts } from '../parts/commit-line.tsx'
import { Icon } from '../parts/icon.tsx'
import { A } from '../parts/link.tsx'
import { Rows } from '../parts/rows.tsx'
import type { ProjectData } from '../project/frame.tsx'
import { type Entry, fileRows } from './file-rows.ts'
import { type Place, placeAddress } from './place.ts'

export type { Entry } from './file-rows.ts'

const PER_CALL = 100
/** Entries of a folder that one page shows; the rest is behind a link. */
const CALLS = 10

/** A part of a folder, as one page shows it. */
export interface Folder {
  readonly entries: readonly Entry[]
  /** The number of the part that follows; absent in the last. */
  readonly next: number | undefined
}

interface CallPage<E> {
  readonly items: readonly E[]
  readonly total?: number | undefined
}

/** Reads a part of a folder, call by call, and puts folders first, as git puts them neither in a call nor in all. */
export async function readPart<E extends Pick<Entry, 'type'>>(
  part: number,
  read: (asked: { readonly page: number; readonly per_page: number }) => Promise<CallPage<E>>,
): Promise<{ readonly entries: readonly E[]; readonly next: number | undefined }> {
  const entries: E[] = []
  const last = part * CALLS
  let total = 0
  for (let page = last - CALLS + 1; page <= last; page += 1) {
    const got = await read({ page, per_page: PER_CALL })
    entries.push(...got.items)
    total = got.total ?? 0
    if (page * PER_CALL >= total) break
  }
  const next = last * PER_CALL < total ? part + 1 : undefined
  return { entries: entries.toSorted((a, b) => rankOf(a) - rankOf(b)), next }
}

const rankOf = ({ type }: Pick<Entry, 'type'>) => ['tree', 'blob', 'commit'].indexOf(type)

/** The entries of a folder, folders first. */
export async function readFolder(
  ctx: PageCtx,
  project: ProjectData,
  { ref, path }: Place,
  part = 1,
): Promise<Folder> {
  return await readPart(part, (asked) =>
    call(getTree, ctx, { path: { id: project.id }, query: { ref, path, ...asked } }),
  )
}

/** The last commit of each entry, by its path. */
export type CommitsOfEntries = ReadonlyMap<string, CommitFacts>

export interface FilesProps {
  readonly project: ProjectData
  readonly place: Place
  readonly entries: readonly Entry[]
  readonly commits?: CommitsOfEntries | undefined
}

/** The rows of a folder. Without commits there is room for them, so that nothing moves when they come. */
export function Files(props: FilesProps) {
  const { project, place } = props
  const shown = useShown()
  return (
    <table class="files">
      <thead class="visually-hidden">
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Last commit</th>
          <th scope="col">When</th>
        </tr>
      </thead>
      {place.path !== '' && (
        <tbody>
          <UpRow project={project} place={place} />
        </tbody>
      )}
      <Rows of={fileRows(shown, props)} />
    </table>
  )
}

function UpRow({ project, place }: Pick<FilesProps, 'project' | 'place'>) {
  const up = place.path.split('/').slice(0, -1).join('/')
  return (
    <tr>
      <td colSpan={3}>
        <A
          href={placeAddress(project, 'tree', { ref: place.ref, path: up })}
          aria-label="Folder above"
        >
          <Icon name="arrow-left" /> ..
        </A>
      </td>
    </tr>
  )
}
