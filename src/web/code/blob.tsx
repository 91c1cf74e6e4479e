import { call } from '../../http/call/call.ts'
import { oneOf } from '../../http/params.ts'
import { listRepositoryCommits } from '../../repositories/commits/endpoints.ts'
import { apiPath, withQuery } from '../address.ts'
import { counted, sizeText } from '../parts/basics.tsx'
import { CommitLine } from '../parts/commit-line.tsx'
import { ClipboardCopy } from '../parts/elements.ts'
import { Icon } from '../parts/icon.tsx'
import { A } from '../parts/link.tsx'
import { type ProjectData, projectPage } from '../project/frame.tsx'
import { BlobContents } from './blob-contents.tsx'
import { editsWhere } from './edit/own-fork.ts'
import { PathLine } from './path-line.tsx'
import { type Place, placeAddress, placeFor, placeOf } from './place.ts'
import { type BlobFacts, isRendered, readBlob, type ShownBlob } from './read-blob.ts'

export const blobPage = projectPage({
  address: '/-/blob/*ref_path',
  summary: 'A file of a repository',
  tab: 'code',
  query: { plain: oneOf(['1']).optional() },
  async api({ project, ref_path }, ctx) {
    const { ref, path } = await placeFor(ctx, project, ref_path)
    return withQuery(apiPath(project, 'repository', 'files', path), { ref })
  },
  async read(ctx, { project, query, ref_path }) {
    const place = await placeOf(ctx, project, ref_path)
    const path = { id: project.id }
    const { facts, shown } = await readBlob(ctx, project, place, query.plain === '1')
    const asked = { ref_name: facts.lastCommit, per_page: 1 }
    const [commits, edits] = await Promise.all([
      call(listRepositoryCommits, ctx, { path, query: asked }),
      editsWhere(ctx, project),
    ])
    return { place, facts, shown, commit: commits.items[0], isPlain: query.plain === '1', edits }
  },
  title: ({ place }) => `${place.path} at ${place.ref}`,
  view: ({ place, facts, shown, commit, isPlain, edits }, project) => (
    <div class="stack">
      <PathLine project={project} place={place} />
      <h1 class="visually-hidden">{place.path}</h1>
      {commit && (
        <div class="last-commit box">
          <CommitLine project={project.path_with_namespace} commit={commit} />
        </div>
      )}
      <section class="box">
        <div class="box-head">
          <Facts facts={facts} shown={shown} />
          <span class="row">
            <Switch project={project} place={place} shown={shown} isPlain={isPlain} />
            <Actions project={project} place={place} facts={facts} shown={shown} />
            {edits !== 'nowhere' && <EditActions project={project} place={place} shown={shown} />}
          </span>
        </div>
        <BlobContents project={project} place={place} shown={shown} />
      </section>
    </div>
  ),
})

function Facts({ facts, shown }: { facts: BlobFacts; shown: ShownBlob }) {
  return (
    <span class="quiet">
      {shown.kind === 'code' && `${counted(shown.lines.length, 'line')} · `}
      {sizeText(shown.kind === 'lfs' ? shown.size : facts.size)}
      {facts.isExecutable && ' · executable'}
      {shown.kind === 'lfs' && ' · kept by Git LFS'}
    </span>
  )
}

interface BlobProps {
  readonly project: ProjectData
  readonly place: Place
  readonly shown: ShownBlob
}

/** Between a file as it reads and its source. */
function Switch({ project, place, shown, isPlain }: BlobProps & { isPlain: boolean }) {
  if (!isPlain && !isRendered(shown, place.path)) return null
  const address = placeAddress(project, 'blob', place)
  return (
    <nav class="row" aria-label="View">
      <A class="button" href={address} aria-current={isPlain ? undefined : 'true'}>
        Rendered
      </A>
      <A
        class="button"
        href={withQuery(address, { plain: 1 })}
        aria-current={isPlain ? 'true' : undefined}
      >
        <Icon name="code" /> Source
      </A>
    </nav>
  )
}

function Actions({ project, place, facts, shown }: BlobProps & { facts: BlobFacts }) {
  const raw = placeAddress(project, 'raw', place)
  const permanent = placeAddress(project, 'blob', { ...place, ref: facts.commit })
  return (
    <>
      <A class="button" href={placeAddress(project, 'commits', place)} data-hotkey="h">
        <Icon name="history" /> History
      </A>
      {shown.kind !== 'binary' && shown.kind !== 'large' && shown.kind !== 'lfs' && (
        <A class="button" href={placeAddress(project, 'blame', place)} data-hotkey="b">
          Blame
        </A>
      )}
      <A class="button" href={permanent} data-hotkey="y" data-keeps-hash>
        <Icon name="link" /> Permalink
      </A>
      <A class="button" href={raw}>
        Raw
      </A>
      <A
        class="button"
        href={withQuery(raw, { inline: 'false' })}
        download=""
        aria-label="Download"
        title="Download"
      >
        <Icon name="download" />
      </A>
      {shown.kind === 'code' && (
        <ClipboardCopy
          for="lines"
          class="button quiet copy"
          role="button"
          tabIndex={0}
          aria-label="Copy the file"
          title="Copy the file"
        >
          <Icon name="copy" />
        </ClipboardCopy>
      )}
    </>
  )
}

function EditActions({ project, place, shown }: BlobProps) {
  const isEditable = shown.kind !== 'binary' && shown.kind !== 'large' && shown.kind !== 'lfs'
  const isText = isEditable && (shown.kind !== 'image' || isRendered(shown, place.path))
  return (
    <>
      {isText && (
        <A class="button" href={placeAddress(project, 'edit', place)} data-hotkey="e">
          <Icon name="pencil" /> Edit
        </A>
      )}
      <details class="menu">
        <summary class="button" aria-label="More to do with this file">
          <Icon name="kebab-horizontal" />
        </summary>
        <div class="menu-list">
          <A href={placeAddress(project, 'replace', place)}>Replace</A>
          <A href={placeAddress(project, 'rename', place)}>Rename or move</A>
          <A href={placeAddress(project, 'delete', place)}>Delete</A>
        </div>
      </details>
    </>
  )
}
