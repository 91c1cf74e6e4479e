import type { DataOf } from '../../http/endpoint.ts'
import type { getTree } from '../../repositories/repository/endpoints.ts'
import { pathOf } from '../address.ts'
import type { Shown } from '../context.ts'
import { exactTime } from '../parts/basics.tsx'
import type { CommitFacts } from '../parts/commit-line.tsx'
import { iconAddress } from '../parts/icon.tsx'
import type { IconName } from '../parts/icon-names.ts'
import { addressIn } from '../parts/link.tsx'
import { type Markup, markup } from '../parts/markup.ts'
import type { ProjectData } from '../project/frame.tsx'
import { type Place, placeAddress } from './place.ts'

/** An entry of a folder. */
export type Entry = DataOf<typeof getTree>['items'][number]

const icons: Readonly<Record<string, IconName>> = {
  tree: 'file-directory-fill',
  commit: 'file-submodule',
  blob: 'file',
}

function iconOf({ type, mode }: Entry): IconName {
  return mode === '120000' ? 'file-symlink-file' : (icons[type] ?? 'file')
}

interface RowsProps {
  readonly project: ProjectData
  readonly place: Place
  readonly entries: readonly Entry[]
  readonly commits?: ReadonlyMap<string, CommitFacts> | undefined
}

/** The rows of a folder's entries, each with its last commit where that is known. */
export function fileRows(shown: Shown, { project, place, entries, commits }: RowsProps): Markup[] {
  const folder = (view: string) => addressIn(shown, placeAddress(project, view, place))
  const folders: Readonly<Record<string, string>> = { tree: folder('tree'), blob: folder('blob') }
  return entries.map((entry) => {
    const kind = entry.type === 'tree' ? 'folder' : 'quiet'
    const icon = iconAddress(shown, iconOf(entry))
    const name =
      entry.type === 'commit'
        ? markup`<span class="mono">${entry.name} @ ${entry.id.slice(0, 8)}</span>`
        : markup`<a href="${folders[entry.type] ?? ''}${pathOf(entry.name)}">${entry.name}</a>`
    const commit = commitCells(shown, project, commits?.get(entry.path))
    return markup`<tr><td class="name"><svg class="icon ${kind}" width="16" height="16" aria-hidden="true"><use href="${icon}"></use></svg> ${name}</td>${commit}</tr>`
  })
}

const NO_COMMIT = markup`<td class="commit"></td><td class="when"></td>`

function commitCells(shown: Shown, project: ProjectData, commit: CommitFacts | undefined): Markup {
  if (!commit) return NO_COMMIT
  const address = addressIn(shown, pathOf(project.path_with_namespace, '-', 'commit', commit.id))
  const title = commit.title === '' ? 'No message' : commit.title
  const exact = exactTime(commit.committed_date)
  const time = markup`<relative-time datetime="${commit.committed_date}" prefix="" title="${exact}">${exact}</relative-time>`
  return markup`<td class="commit"><a href="${address}">${title}</a></td><td class="when">${time}</td>`
}
