import { may } from '../../http/call/call.ts'
import { integer, oneOf } from '../../http/params.ts'
import { createRepositoryCommit } from '../../repositories/commits/write-endpoints.ts'
import { apiPath, withQuery } from '../address.ts'
import { Icon } from '../parts/icon.tsx'
import { A } from '../parts/link.tsx'
import { EmptyNote, isEmpty } from '../project/clone-box.tsx'
import { type ProjectData, projectPage } from '../project/frame.tsx'
import { editsWhere } from './edit/own-fork.ts'
import { type CommitsOfEntries, type Folder, readFolder } from './files.tsx'
import { commitsOf, FilesWithCommits, readLastCommits } from './last-commits.tsx'
import { PathLine } from './path-line.tsx'
import { type Place, placeAddress, placeFor, placeOf } from './place.ts'
import { type Readme, ReadmeView, readReadme } from './readme.tsx'

const query = {
  /** Which thousand entries of a large folder. */
  part: integer({ min: 1 }).default(1),
  /** Asks for the last commits with the page, for browsers without script. */
  commits: oneOf(['1']).optional(),
}

/** The files of a folder, with its README. */
export const treePages = (['/-/tree', '/-/tree/*ref_path'] as const).map((address) =>
  projectPage({
    address,
    summary: 'Files of a repository',
    tab: 'code',
    query,
    async api({ project, ...given }, ctx) {
      const refPath = 'ref_path' in given ? String(given.ref_path) : undefined
      const { ref, path } = await placeFor(ctx, project, refPath)
      return withQuery(apiPath(project, 'repository', 'tree'), { ref, path })
    },
    async read(ctx, { project, query, ...given }) {
      const place = await placeOf(
        ctx,
        project,
        'ref_path' in given ? String(given.ref_path) : undefined,
      )
      // The API knows no folder there, and the address is that of the tab.
      if (isEmpty(project) && place.ref === project.default_branch && place.path === '') {
        const mayPush = await may(createRepositoryCommit, ctx, { path: { id: project.id } })
        return { place, mayPush, shown: undefined }
      }
      const folder = await readFolder(ctx, project, place, query.part)
      const commits =
        query.commits && commitsOf(await readLastCommits(ctx, project, place, query.part))
      const [readme, edits] = await Promise.all([
        readReadme(ctx, project, place, folder.entries),
        editsWhere(ctx, project),
      ])
      return { place, mayPush: false, shown: { folder, commits, part: query.part, readme, edits } }
    },
    title: ({ place }) =>
      place.path === '' ? `Files at ${place.ref}` : `${place.path} at ${place.ref}`,
    view: ({ place, mayPush, shown }, project) =>
      shown ? (
        <FolderView project={project} place={place} {...shown} />
      ) : (
        <div class="stack">
          <h1 class="visually-hidden">Files at {place.ref}</h1>
          <EmptyNote project={project} mayPush={mayPush} />
        </div>
      ),
  }),
)

interface FolderProps {
  readonly project: ProjectData
  readonly place: Place
  readonly folder: Folder
  readonly commits: CommitsOfEntries | undefined
  readonly part: number
  readonly readme: Readme | undefined
  readonly edits: Awaited<ReturnType<typeof editsWhere>>
}

/** The entries of a folder, and what can be done with it. */
function FolderView({ project, place, folder, commits, part, readme, edits }: FolderProps) {
  return (
    <div class="stack">
      <div class="row between">
        <PathLine project={project} place={place} />
        <span class="row">
          <A
            class="button"
            href={placeAddress(project, 'find_file', { ref: place.ref, path: '' })}
            data-hotkey="t"
          >
            <Icon name="search" /> Find a file
          </A>
          {edits !== 'nowhere' && <NewMenu project={project} place={place} />}
          <A class="button" href={placeAddress(project, 'commits', place)} data-hotkey="h">
            <Icon name="history" /> History
          </A>
          <ArchiveLink project={project} sha={place.ref} />
        </span>
      </div>
      <h1 class="visually-hidden">Files at {place.ref}</h1>
      <FilesWithCommits
        project={project}
        place={place}
        entries={folder.entries}
        commits={commits}
        part={part}
      />
      {folder.next !== undefined && (
        <A
          class="button"
          href={withQuery(placeAddress(project, 'tree', place), { part: folder.next })}
        >
          More files
        </A>
      )}
      {readme && <ReadmeView readme={readme} />}
    </div>
  )
}

/** What can be put into the folder. */
function NewMenu({ project, place }: { project: Named; place: Place }) {
  return (
    <details class="menu">
      <summary class="button">
        <Icon name="plus" /> Add
      </summary>
      <div class="menu-list">
        <A href={placeAddress(project, 'new', place)}>New file</A>
        <A href={placeAddress(project, 'upload', place)}>Upload a file</A>
        <A href={placeAddress(project, 'new_folder', place)}>New folder</A>
      </div>
    </details>
  )
}

type Named = Parameters<typeof placeAddress>[0]

function ArchiveLink({ project, sha }: { project: Named; sha: string }) {
  const name = project.path_with_namespace.split('/').at(-1)
  return (
    <A
      class="button"
      href={`${placeAddress(project, 'archive', { ref: sha, path: '' })}/${name}.zip`}
      download=""
    >
      <Icon name="download" /> ZIP
    </A>
  )
}
