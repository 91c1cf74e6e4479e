import { call } from '../../http/call/call.ts'
import type { DataOf } from '../../http/endpoint.ts'
import { integer, oneOf } from '../../http/params.ts'
import { getSingleCommit } from '../../repositories/commits/endpoints.ts'
import { listCommitActivity, listContributors } from '../../repositories/history/endpoints.ts'
import { apiPath, withQuery } from '../address.ts'
import { useShown } from '../context.ts'
import { fragment } from '../fragment.ts'
import type { PageCtx } from '../page-ctx.ts'
import { counted, Pages } from '../parts/basics.tsx'
import { A, addressIn } from '../parts/link.tsx'
import { type ProjectData, projectPage, readProjectFrame } from '../project/frame.tsx'
import { PathLine } from './path-line.tsx'
import { type Place, placeAddress, placeFor, placeOf } from './place.ts'

const PER_PAGE = 50

const query = { page: integer({ min: 1 }).default(1) }

/** Who made the commits of a branch, and when. The page comes at once; counting a long history for the first time takes its time. */
export const contributorsPage = projectPage({
  address: '/-/graphs/*ref_path',
  summary: 'Who made the commits of a branch, and when',
  tab: 'commits',
  query: { ...query, counts: oneOf(['1']).optional() },
  async api({ project, ref_path, query: { page } }, ctx) {
    const { ref } = await placeFor(ctx, project, ref_path)
    return withQuery(apiPath(project, 'repository', 'contributors'), { ref, page })
  },
  async read(ctx, { project, query, ref_path }) {
    const { ref } = await placeOf(ctx, project, ref_path)
    // Whether there is such a ref, and whether it may be read.
    const path = { id: project.id, sha: ref }
    await call(getSingleCommit, ctx, { path, query: { stats: false } })
    const counts = query.counts && (await readCounts(ctx, project, ref, query.page))
    return { place: { ref, path: '' }, counts, page: query.page }
  },
  title: ({ place }) => `Contributors to ${place.ref}`,
  view: ({ place, counts, page }, project) => (
    <div class="stack narrow">
      <h1>Contributors</h1>
      <PathLine project={project} place={place} />
      {counts ? (
        <CountsView project={project} counts={counts} />
      ) : (
        <LaterCounts project={project} place={place} page={page} />
      )}
    </div>
  ),
})

async function readCounts(ctx: PageCtx, project: ProjectData, ref: string, page: number) {
  const path = { id: project.id }
  const order = { order_by: 'commits', sort: 'desc', per_page: PER_PAGE, page }
  const [people, weeks] = await Promise.all([
    call(listContributors, ctx, { path, query: { ref, ...order } }),
    call(listCommitActivity, ctx, { path, query: { ref } }),
  ])
  return { place: { ref, path: '' }, people, weeks, page }
}

/** Room for the counts until they are there. */
function LaterCounts(props: { project: ProjectData; place: Place; page: number }) {
  const { project, place, page } = props
  const shown = useShown()
  const later = placeAddress(project, 'graph_counts', place)
  return (
    <div class="later" data-load={addressIn(shown, withQuery(later, { page }))}>
      <p class="note" role="status" data-waiting data-script hidden>
        The commits are being counted. In a long history that takes up to some minutes the first
        time.
      </p>
      <p class="note alert" data-failed hidden>
        They could not be counted yet. Reload the page in a while.
      </p>
      <noscript>
        <A href={withQuery(placeAddress(project, 'graphs', place), { page, counts: 1 })}>
          Count the commits
        </A>
      </noscript>
    </div>
  )
}

interface CountsProps {
  readonly project: ProjectData
  readonly counts: Awaited<ReturnType<typeof readCounts>>
}

function CountsView({ project, counts: { place, people, weeks, page } }: CountsProps) {
  return (
    <div class="stack">
      <Activity weeks={weeks} />
      <ul class="list">
        {people.items.map(({ name, email, commits, additions, deletions }) => (
          <li key={email}>
            <span class="main">
              <A
                class="title"
                href={withQuery(placeAddress(project, 'commits', place), { author: email })}
              >
                {name}
              </A>{' '}
              <span class="quiet">{email}</span>
            </span>
            <span>{counted(commits, 'commit')}</span>
            <span class="facts">
              <span class="added">+{additions.toLocaleString('en')}</span>{' '}
              <span class="removed">−{deletions.toLocaleString('en')}</span>
            </span>
          </li>
        ))}
      </ul>
      <Pages
        page={page}
        perPage={PER_PAGE}
        total={people.total}
        more={people.more}
        address={placeAddress(project, 'graphs', place)}
      />
    </div>
  )
}

export const contributorCounts = fragment({
  address: '/*project/-/graph_counts/*ref_path',
  summary: 'How many commits each made on a branch, and when',
  query,
  async read(ctx, { project: at, ref_path, query: { page } }) {
    const { project } = await readProjectFrame(ctx, at)
    const { ref } = await placeOf(ctx, project, ref_path)
    return { project, counts: await readCounts(ctx, project, ref, page) }
  },
  view: ({ project, counts }) => <CountsView project={project} counts={counts} />,
})

type Weeks = DataOf<typeof listCommitActivity>

const WIDTH = 960
const HEIGHT = 140
/** A bar of a short history. */
const WIDEST = 24
/** Bars that can be distinguished on a screen. */
const MOST_BARS = 160
const WEEK = 7 * 24 * 3600 * 1000

/** A picture of commits over time; its text says the same in short. */
function Activity({ weeks }: { weeks: Weeks }) {
  const [first, last] = [weeks[0]?.week, weeks.at(-1)?.week]
  if (first === undefined || last === undefined) return null
  const { bars, weeksEach } = barsOf(weeks)
  const most = Math.max(...bars)
  const width = Math.min(WIDTH / bars.length, WIDEST)
  const total = weeks.reduce((sum, { commits }) => sum + commits, 0)
  const each = weeksEach === 1 ? 'week' : `${weeksEach} weeks`
  return (
    <figure class="activity">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label="Commits over time">
        {bars.map((count, index) => {
          const height = (count / most) * HEIGHT
          return (
            <rect
              key={index}
              x={index * width}
              y={HEIGHT - height}
              width={Math.max(width - 1, 0.5)}
              height={height}
            />
          )
        })}
      </svg>
      <figcaption class="row between quiet">
        <span>{first}</span>
        <span>
          {counted(total, 'commit')}, at most {most.toLocaleString('en')} in a {each}
        </span>
        {last !== first && <span>{last}</span>}
      </figcaption>
    </figure>
  )
}

/** Commits of equal spans of time, few enough to be drawn. */
export function barsOf(weeks: Weeks): { readonly bars: number[]; readonly weeksEach: number } {
  const start = Date.parse(weeks[0]?.week ?? '')
  const numberOf = (week: string) => Math.round((Date.parse(week) - start) / WEEK)
  const all = numberOf(weeks.at(-1)?.week ?? '') + 1
  const weeksEach = Math.ceil(all / MOST_BARS)
  const bars = Array.from({ length: Math.ceil(all / weeksEach) }, () => 0)
  for (const { week, commits } of weeks) {
    const at = Math.floor(numberOf(week) / weeksEach)
    bars[at] = (bars[at] ?? 0) + commits
  }
  return { bars, weeksEach }
}
