import { Problem } from '../../base/problem.ts'
import { call } from '../../http/call/call.ts'
import type { DataOf } from '../../http/endpoint.ts'
import { getRepositoryFileBlame } from '../../repositories/files/endpoints.ts'
import { apiPath, pathOf, withQuery } from '../address.ts'
import type { PageCtx } from '../page-ctx.ts'
import { Blank, Time } from '../parts/basics.tsx'
import { CodeLine } from '../parts/highlighted.tsx'
import { Icon } from '../parts/icon.tsx'
import { A } from '../parts/link.tsx'
import { type ProjectData, projectPage } from '../project/frame.tsx'
import { LineNumber } from './lines.tsx'
import { PathLine } from './path-line.tsx'
import { type Place, placeAddress, placeFor, placeOf } from './place.ts'
import { codeLines, isText, readContent, readFacts } from './read-blob.ts'

type Part = DataOf<typeof getRepositoryFileBlame>[number]

/** Who wrote each line of a file, with a way back to what stood there before. */
export const blamePage = projectPage({
  address: '/-/blame/*ref_path',
  summary: 'Who wrote each line of a file',
  tab: 'code',
  async api({ project, ref_path }, ctx) {
    const { ref, path } = await placeFor(ctx, project, ref_path)
    return withQuery(apiPath(project, 'repository', 'files', path, 'blame'), { ref })
  },
  async read(ctx, { project, ref_path }) {
    const place = await placeOf(ctx, project, ref_path)
    return { place, ...(await readBlame(ctx, project, place)) }
  },
  title: ({ place }) => `Blame of ${place.path} at ${place.ref}`,
  view: ({ place, parts, html, why }, project) => (
    <div class="stack">
      <div class="row between">
        <PathLine project={project} place={place} />
        <span class="row">
          <A class="button" href={placeAddress(project, 'blob', place)}>
            <Icon name="file" /> File
          </A>
          <A class="button" href={placeAddress(project, 'commits', place)} data-hotkey="h">
            <Icon name="history" /> History
          </A>
        </span>
      </div>
      <h1 class="visually-hidden">Blame of {place.path}</h1>
      {why === undefined ? (
        <section class="box">
          <div class="lines blame" data-lines>
            {numbered(parts).map(({ part, from }) => (
              <BlamePart
                key={from}
                project={project}
                place={place}
                part={part}
                from={from}
                html={html}
              />
            ))}
          </div>
        </section>
      ) : (
        <Blank icon="file" title={why}>
          <A href={placeAddress(project, 'commits', place)}>History of this path</A>
        </Blank>
      )}
    </div>
  ),
})

interface Blame {
  readonly parts: readonly Part[]
  readonly html: readonly string[] | undefined
  /** Why there is none. */
  readonly why: string | undefined
}

async function readBlame(ctx: PageCtx, project: ProjectData, place: Place): Promise<Blame> {
  const none = { parts: [], html: undefined }
  const facts = await readFacts(ctx, project, place).catch((error: unknown) => {
    if (error instanceof Problem && error.code === 'not_found') return undefined
    throw error
  })
  // Where steps back in time end: the file was made, or got its name, by the commit that one comes from.
  if (!facts) return { ...none, why: 'The file is not in this commit' }
  const content = await readContent(ctx, project, place, facts)
  if (!content || !isText(content.bytes)) {
    return { ...none, why: content ? 'This file is not text' : 'This file is too large for blame' }
  }
  const path = { id: project.id, file_path: place.path }
  const text = content.bytes.toString('utf8')
  const [parts, code] = await Promise.all([
    call(getRepositoryFileBlame, ctx, { path, query: { ref: facts.commit } }),
    codeLines(ctx, { text, name: place.path, blob: content.blob }),
  ])
  return { parts, html: code.html, why: undefined }
}

function numbered(parts: readonly Part[]): { readonly part: Part; readonly from: number }[] {
  let next = 1
  return parts.map((part) => {
    const from = next
    next += part.lines.length
    return { part, from }
  })
}

interface BlamePartProps {
  readonly project: ProjectData
  readonly place: Place
  readonly part: Part
  /** The number of its first line. */
  readonly from: number
  readonly html: readonly string[] | undefined
}

function BlamePart({ project, place, part: { commit, lines }, from, html }: BlamePartProps) {
  const [before] = commit.parent_ids
  const title = commit.message.split('\n', 1)[0] || 'No message'
  return (
    <div class="blame-part">
      <div class="blame-commit">
        <A
          href={pathOf(project.path_with_namespace, '-', 'commit', commit.id)}
          title={`${title} · ${commit.author_name}`}
        >
          {title}
        </A>
        <span class="quiet">
          <Time at={commit.committed_date} />
        </span>
        {before !== undefined && (
          <A
            href={placeAddress(project, 'blame', { ...place, ref: before })}
            aria-label="Blame before this commit"
            title="Blame before this commit"
          >
            <Icon name="versions" />
          </A>
        )}
      </div>
      <div class="blame-lines">
        {lines.map((line, index) => (
          <div class="line" id={`L${from + index}`} key={index}>
            <LineNumber number={from + index} />
            <CodeLine html={html?.[from + index - 1]} text={line} />
          </div>
        ))}
      </div>
    </div>
  )
}
