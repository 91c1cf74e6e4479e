import { call, may } from '../../http/call/call.ts'
import type { DataOf } from '../../http/endpoint.ts'
import {
  getLanguages,
  getStarrers,
  starProject,
  unstarProject,
} from '../../projects/projects/state-endpoints.ts'
import { getSingleCommit, listRepositoryCommits } from '../../repositories/commits/endpoints.ts'
import { createRepositoryCommit } from '../../repositories/commits/write-endpoints.ts'
import { pathOf, withQuery } from '../address.ts'
import { CommitPipeline, mayFollowPipeline } from '../code/commit-pipeline.tsx'
import { type Folder, readFolder } from '../code/files.tsx'
import { FilesWithCommits } from '../code/last-commits.tsx'
import { placeAddress } from '../code/place.ts'
import { type Readme, ReadmeView, readReadme } from '../code/readme.tsx'
import { TEMPLATE_TOPIC } from '../entry/new-project.tsx'
import { form } from '../form.ts'
import type { PageCtx } from '../page-ctx.ts'
import { counted } from '../parts/basics.tsx'
import { CommitLine } from '../parts/commit-line.tsx'
import { ButtonForm } from '../parts/form.tsx'
import { Icon } from '../parts/icon.tsx'
import { A } from '../parts/link.tsx'
import { CloneBox, EmptyNote, isEmpty } from './clone-box.tsx'
import { type ProjectData, projectPage } from './frame.tsx'

interface Code {
  readonly ref: string
  readonly folder: Folder
  readonly readme: Readme | undefined
  readonly commit: DataOf<typeof getSingleCommit>
  readonly followsPipeline: boolean
}

/** What a project is, at its own address. */
export const projectOverview = projectPage({
  address: '',
  summary: 'Overview of a project',
  tab: 'overview',
  async read(ctx, { project }) {
    const path = { id: project.id }
    const ref = project.default_branch ?? undefined
    const readsCode =
      ref !== undefined && !isEmpty(project) && (await may(listRepositoryCommits, ctx, { path }))
    const [code, languages, mayPush, isStarred] = await Promise.all([
      readsCode ? readCode(ctx, project, ref) : undefined,
      readsCode ? call(getLanguages, ctx, { path }) : {},
      may(createRepositoryCommit, ctx, { path }),
      readStar(ctx, project),
    ])
    return { code, languages, mayPush, isStarred }
  },
  title: () => '',
  view: ({ code, languages, mayPush, isStarred }, project) => (
    <div class="with-side">
      <div class="stack">
        <h1 class="visually-hidden">{project.name}</h1>
        {isEmpty(project) && <EmptyNote project={project} mayPush={mayPush} />}
        {code && <CodeOf project={project} code={code} />}
      </div>
      <aside class="stack side" aria-label="About">
        <About project={project} />
        {code && isStarred !== undefined && (project.topics ?? []).includes(TEMPLATE_TOPIC) && (
          <A
            class="button"
            href={withQuery('/projects/new', { template: project.path_with_namespace })}
          >
            <Icon name="plus" /> Use as a template
          </A>
        )}
        {isStarred !== undefined && <Star project={project} isStarred={isStarred} />}
        {!isEmpty(project) && <CloneBox project={project} />}
        <Languages of={languages} />
      </aside>
    </div>
  ),
})

async function readCode(ctx: PageCtx, project: ProjectData, ref: string): Promise<Code> {
  const place = { ref, path: '' }
  const [folder, commit, followsPipeline] = await Promise.all([
    readFolder(ctx, project, place),
    call(getSingleCommit, ctx, {
      path: { id: project.id, sha: `refs/heads/${ref}` },
      query: { stats: false },
    }),
    mayFollowPipeline(ctx, project),
  ])
  const readme = await readReadme(ctx, project, place, folder.entries)
  return { ref, folder, readme, commit, followsPipeline }
}

function CodeOf({ project, code }: { project: ProjectData; code: Code }) {
  const place = { ref: code.ref, path: '' }
  return (
    <>
      <div class="last-commit box">
        <CommitLine project={project.path_with_namespace} commit={code.commit} />
        <CommitPipeline project={project} commit={code.commit} isFollowed={code.followsPipeline} />
      </div>
      <div class="row between">
        <A class="ref" href={placeAddress(project, 'tree', place)}>
          <Icon name="git-branch" /> {code.ref}
        </A>
        <span class="row">
          <A href={placeAddress(project, 'find_file', place)} data-hotkey="t">
            <Icon name="search" /> Find a file
          </A>
          <A href={placeAddress(project, 'commits', place)}>
            <Icon name="history" /> Commits
          </A>
        </span>
      </div>
      <FilesWithCommits project={project} place={place} entries={code.folder.entries} />
      {code.readme && <ReadmeView readme={code.readme} />}
    </>
  )
}

function About({ project }: { project: ProjectData }) {
  return (
    <section class="stack tight">
      <h2>About</h2>
      <p>{project.description || <span class="quiet">No description</span>}</p>
      {(project.topics ?? []).length > 0 && (
        <p class="row">
          {(project.topics ?? []).map((topic) => (
            <A key={topic} class="label" href={`/explore?topic=${encodeURIComponent(topic)}`}>
              {topic}
            </A>
          ))}
        </p>
      )}
      <p class="quiet">
        {counted(project.star_count ?? 0, 'star')} · {counted(project.forks_count ?? 0, 'fork')}
      </p>
    </section>
  )
}

/** Whether the caller has starred it; nothing for who is not signed in. */
async function readStar(ctx: PageCtx, project: ProjectData): Promise<boolean | undefined> {
  if (ctx.actor.kind !== 'user') return undefined
  const { username } = ctx.actor.user
  const { items } = await call(getStarrers, ctx, {
    path: { id: project.id },
    query: { search: username, per_page: 100 },
  })
  return items.some(({ user }) => user.username === username)
}

function Star({ project, isStarred }: { project: ProjectData; isStarred: boolean }) {
  const address = pathOf(project.path_with_namespace, '-')
  const [action, label] = isStarred ? (['unstar', 'Unstar'] as const) : (['star', 'Star'] as const)
  return (
    <ButtonForm
      action={`${address}/${action}`}
      label={
        <>
          <Icon name="star" /> {label}
        </>
      }
    />
  )
}

function Languages({ of }: { of: Readonly<Record<string, number>> }) {
  const known = Object.entries(of)
  if (known.length === 0) return null
  return (
    <section class="stack tight">
      <h2>Languages</h2>
      <ul>
        {known.map(([name, share]) => (
          <li key={name} class="row between">
            <span>{name}</span> <span class="quiet">{share} %</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

const starring = (verb: 'star' | 'unstar', endpoint: typeof starProject) =>
  form({
    address: `/*project/-/${verb}`,
    summary: verb === 'star' ? 'Star a project' : 'Take a star back',
    endpoint,
    input: ({ path }) => ({ path: { id: path.project } }),
  })

export const starForms = [starring('star', starProject), starring('unstar', unstarProject)]
