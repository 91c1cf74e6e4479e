import { RequestState } from '../review/state.tsx'
import { PersonLink, State, Time } from './basics.tsx'
import { A } from './link.tsx'

/** An issue or merge request as the lists of the API give it. */
export interface ListedWork {
  readonly id: number
  readonly title: string
  readonly state: string
  readonly web_url: string
  readonly updated_at: string
  readonly draft?: boolean
  readonly references?: { readonly full: string }
  readonly author?: Parameters<typeof PersonLink>[0]['of'] | null
}

/** Issues or merge requests of many projects. */
export function WorkList({
  kind,
  of,
}: {
  kind: 'issue' | 'merge_request'
  of: readonly ListedWork[]
}) {
  return (
    <ul class="list">
      {of.map((one) => (
        <li key={one.id}>
          {kind === 'issue' ? (
            <IssueState state={one.state} />
          ) : (
            <RequestState state={one.state} draft={one.draft === true} />
          )}
          <div class="main">
            <A class="title" href={one.web_url}>
              {one.title}
            </A>
            <p class="facts">
              {one.references?.full}
              {one.author && (
                <>
                  {' · '}
                  <PersonLink of={one.author} />
                </>
              )}
              {' · changed '}
              <Time at={one.updated_at} />
            </p>
          </div>
        </li>
      ))}
    </ul>
  )
}

function IssueState({ state }: { state: string }) {
  return state === 'closed' ? (
    <State kind="merged" icon="check-circle">
      Closed
    </State>
  ) : (
    <State kind="open" icon="issue-opened">
      Open
    </State>
  )
}
