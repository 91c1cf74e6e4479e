import type { SearchScope } from '../../instance/search/scopes.ts'
import { pathOf } from '../address.ts'
import { PersonLink, State, Time } from '../parts/basics.tsx'
import { A } from '../parts/link.tsx'
import { ProjectList } from '../parts/project-list.tsx'
import { WorkList } from '../parts/work-list.tsx'
import type { Found } from './run.ts'

interface FindsProps {
  readonly scope: SearchScope
  readonly found: readonly Found[]
  readonly paths: ReadonlyMap<number, string>
}

/** What was found, as the lists of its kind show it. */
export function Finds({ scope, found, paths }: FindsProps) {
  if (scope === 'projects') {
    return <ProjectList projects={found.filter((one) => 'path_with_namespace' in one)} />
  }
  if (scope === 'issues' || scope === 'merge_requests') {
    const kind = scope === 'issues' ? 'issue' : 'merge_request'
    return <WorkList kind={kind} of={found.filter((one) => 'references' in one)} />
  }
  return (
    <ul class="list">
      {found.map((one) => (
        <li key={keyOf(one)}>
          <Find of={one} paths={paths} isWiki={scope === 'wiki_blobs'} />
        </li>
      ))}
    </ul>
  )
}

function keyOf(one: Found): string {
  return 'basename' in one ? `${one.project_id} ${one.path} ${one.startline}` : String(one.id)
}

type Blob = Extract<Found, { basename: string }>
type Note = Extract<Found, { noteable_type: string }>

function Find({ of, paths, isWiki }: { of: Found; paths: FindsProps['paths']; isWiki: boolean }) {
  if ('basename' in of) return <BlobFind of={of} paths={paths} isWiki={isWiki} />
  if ('noteable_type' in of) return <NoteFind of={of} paths={paths} />
  if ('username' in of) return <PersonLink of={of} />
  if ('short_id' in of) {
    return (
      <div class="main">
        <A class="title" href={of.web_url}>
          {of.title}
        </A>
        <p class="facts">
          {of.author_name} · <Time at={of.committed_date} /> ·{' '}
          <span class="mono">{of.short_id}</span>
        </p>
      </div>
    )
  }
  if (!('title' in of)) return null
  return (
    <div class="main">
      <A class="title" href={of.web_url}>
        {of.title}
      </A>{' '}
      {'state' in of && of.state === 'closed' && (
        <State kind="merged" icon="check-circle">
          Closed
        </State>
      )}
      <p class="facts">{of.description}</p>
    </div>
  )
}

function BlobFind({
  of,
  paths,
  isWiki,
}: {
  of: Blob
  paths: FindsProps['paths']
  isWiki: boolean
}) {
  const project = paths.get(of.project_id ?? 0)
  const page = of.path.replace(/\.[^./]+$/, '')
  const address =
    project === undefined
      ? undefined
      : isWiki
        ? pathOf(project, '-', 'wikis', page)
        : `${pathOf(project, '-', 'blob', of.ref, of.path)}#L${of.startline}`
  return (
    <div class="main">
      {address === undefined ? (
        <strong>{of.path}</strong>
      ) : (
        <A class="title" href={address}>
          {of.path}
        </A>
      )}
      <p class="facts">{project}</p>
      <pre class="find-text">{of.data}</pre>
    </div>
  )
}

const places = { Issue: 'issues', MergeRequest: 'merge_requests', Commit: 'commit' } as const

function NoteFind({ of, paths }: { of: Note; paths: FindsProps['paths'] }) {
  const project = paths.get(of.project_id ?? 0)
  const { noteable_type: type, noteable_iid: iid, commit_id: commit } = of
  const at = type === 'Commit' ? commit : iid
  const isKnown = type === 'Issue' || type === 'MergeRequest' || type === 'Commit'
  const address =
    project !== undefined && isKnown && at
      ? `${pathOf(project, '-', places[type], at)}#note_${of.id}`
      : undefined
  return (
    <div class="main">
      <p class="clipped">{of.body}</p>
      <p class="facts">
        {of.author && <PersonLink of={of.author} />} · <Time at={of.created_at} />
        {address !== undefined && (
          <>
            {' · '}
            <A href={address}>{project}</A>
          </>
        )}
      </p>
    </div>
  )
}
