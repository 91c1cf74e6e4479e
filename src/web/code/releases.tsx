import { call, may } from '../../http/call/call.ts'
import type { DataOf } from '../../http/endpoint.ts'
import { integer } from '../../http/params.ts'
import {
  createProjectRelease,
  getProjectRelease,
  listReleases,
  updateRelease,
} from '../../publishing/releases/endpoints.ts'
import { postReleaseEvidence } from '../../publishing/releases/evidence-endpoints.ts'
import { apiPath, pathOf, withQuery } from '../address.ts'
import { Blank, Pages, PersonLink, Time } from '../parts/basics.tsx'
import { ButtonForm, RefusalNote } from '../parts/form.tsx'
import { Icon } from '../parts/icon.tsx'
import { A } from '../parts/link.tsx'
import { Markdown } from '../parts/markdown.tsx'
import { type ProjectData, projectPage } from '../project/frame.tsx'
import { placeAddress } from './place.ts'

export type Release = DataOf<typeof getProjectRelease>

const PER_PAGE = 20

/** The address of a release; tags may have slashes in their names, which stay encoded here. */
export function releaseAddress(project: ProjectData, tag: string, ...more: string[]): string {
  const rest = more.map((part) => `/${part}`).join('')
  return `${pathOf(project.path_with_namespace, '-', 'releases')}/${encodeURIComponent(tag)}${rest}`
}

export const releasesPage = projectPage({
  address: '/-/releases',
  summary: 'Releases of a project',
  tab: 'tags',
  query: { page: integer({ min: 1 }).default(1) },
  api: ({ project, query }) => withQuery(apiPath(project, 'releases'), query),
  async read(ctx, { project, query }) {
    const path = { id: project.id }
    const asked = { page: query.page, per_page: PER_PAGE, include_html_description: true }
    const [releases, mayCreate] = await Promise.all([
      call(listReleases, ctx, { path, query: asked }),
      may(createProjectRelease, ctx, { path }),
    ])
    return { releases, page: query.page, mayCreate }
  },
  title: () => 'Releases',
  view: ({ releases, page, mayCreate }, project) => {
    const address = pathOf(project.path_with_namespace, '-', 'releases')
    return (
      <div class="stack narrow">
        <div class="row between">
          <h1>Releases</h1>
          {mayCreate && (
            <A class="button primary" href={`${address}/new`}>
              New release
            </A>
          )}
        </div>
        {releases.items.length === 0 && (
          <Blank icon="rocket" title="No releases yet">
            <p>A release is a tag with notes and files for those who use the project.</p>
          </Blank>
        )}
        {releases.items.map((release) => (
          <ReleaseBox key={release.tag_name} project={project} release={release} />
        ))}
        <Pages
          page={page}
          perPage={PER_PAGE}
          total={releases.total}
          more={releases.more}
          address={address}
        />
      </div>
    )
  },
})

export const releasePage = projectPage({
  address: '/-/releases/:tag',
  summary: 'A release',
  tab: 'tags',
  api: ({ project, tag }) => apiPath(project, 'releases', tag),
  async read(ctx, { project, tag }) {
    const path = { id: project.id, tag_name: tag }
    const [release, mayChange, mayCollect] = await Promise.all([
      call(getProjectRelease, ctx, { path, query: { include_html_description: true } }),
      may(updateRelease, ctx, { path }),
      may(postReleaseEvidence, ctx, { path }),
    ])
    return { release, mayChange, mayCollect }
  },
  title: ({ release }) => release.name,
  view: ({ release, mayChange, mayCollect }, project) => {
    const address = releaseAddress(project, release.tag_name)
    return (
      <div class="stack narrow">
        <h1 class="visually-hidden">{release.name}</h1>
        <RefusalNote />
        <div class="row">
          <A href={pathOf(project.path_with_namespace, '-', 'releases')}>
            <Icon name="arrow-left" /> Releases
          </A>
          {mayChange && (
            <A class="button" href={`${address}/edit`}>
              <Icon name="pencil" /> Edit
            </A>
          )}
          {mayCollect && <ButtonForm action={`${address}/evidence`} label="Collect evidence" />}
          {mayChange && (
            <ButtonForm
              action={`${address}/delete`}
              kind="danger"
              label="Delete"
              confirm={`Delete the release ${release.name}? Its tag stays.`}
              returnTo={address}
            />
          )}
        </div>
        <ReleaseBox project={project} release={release} />
        <Evidences release={release} />
      </div>
    )
  },
})

function ReleaseBox({ project, release }: { project: ProjectData; release: Release }) {
  const { tag_name: tag, author, commit } = release
  return (
    <section class="box">
      <div class="box-head">
        <h2>
          <A href={releaseAddress(project, tag)}>{release.name}</A>
        </h2>
        <span class="row">
          {release.upcoming_release && <span class="state waiting">upcoming</span>}
          <A class="ref" href={placeAddress(project, 'tree', { ref: tag, path: '' })}>
            <Icon name="tag" /> {tag}
          </A>
          {commit && (
            <A class="mono" href={pathOf(project.path_with_namespace, '-', 'commit', commit.id)}>
              {commit.short_id}
            </A>
          )}
        </span>
      </div>
      <div class="box-body stack">
        <p class="quiet row">
          <Time at={release.released_at} /> {author && <PersonLink of={author} />}
          {release.milestones.map(({ id, title }) => (
            <span key={id} class="label">
              <Icon name="milestone" /> {title}
            </span>
          ))}
        </p>
        {release.description_html && <Markdown html={release.description_html} />}
        <Assets release={release} />
      </div>
    </section>
  )
}

function Assets({ release: { assets } }: { release: Release }) {
  if (assets.count === 0) return null
  return (
    <section class="stack tight">
      <h3>Assets</h3>
      <ul class="list">
        {assets.links.map((link) => (
          <li key={link.id}>
            <A href={link.direct_asset_url}>
              <Icon name={link.link_type === 'package' ? 'package' : 'link'} /> {link.name}
            </A>
            {link.link_type !== 'other' && <span class="label">{link.link_type}</span>}
          </li>
        ))}
        {assets.sources.map(({ format, url }) => (
          <li key={format}>
            <A href={url} download="">
              <Icon name="file-zip" /> Source code ({format})
            </A>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Evidences({ release: { evidences } }: { release: Release }) {
  if (evidences.length === 0) return null
  return (
    <section class="stack tight">
      <h2>Evidence</h2>
      <p class="quiet">What the release and its milestones said at a time, with its SHA-256.</p>
      <ul class="list">
        {evidences.map(({ sha, collected_at: at }) => (
          <li key={sha}>
            <span class="mono">{sha}</span> <Time at={at} />
          </li>
        ))}
      </ul>
    </section>
  )
}
