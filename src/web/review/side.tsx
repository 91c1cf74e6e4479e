import { counted, PersonLink, Time } from '../parts/basics.tsx'
import { Icon } from '../parts/icon.tsx'
import { A } from '../parts/link.tsx'
import { PipelineState } from '../parts/pipeline-state.tsx'
import type { RequestData } from './blockers.tsx'
import type { ApprovalRules, RequestView } from './request-data.ts'

/** The facts beside a merge request. */
export function Side({ view, address }: { view: RequestView; address: string }) {
  const { request, approvals, rules, may } = view
  return (
    <>
      {may.edit && (
        <A class="button" href={`${address}/edit`} data-hotkey="e">
          <Icon name="pencil" /> Edit
        </A>
      )}
      <section>
        <h2>Opened</h2>
        <p>
          {request.author && <PersonLink of={request.author} />} <Time at={request.created_at} />
        </p>
      </section>
      <People title="Assignees" of={request.assignees} />
      <People title="Reviewers" of={request.reviewers} />
      {approvals && (
        <People title="Approved by" of={approvals.approved_by.map(({ user }) => user)} />
      )}
      {rules.length > 0 && <Rules rules={rules} />}
      <section>
        <h2>Labels</h2>
        <p class="row">
          {request.labels.length === 0 && <span class="quiet">None</span>}
          {request.labels.map((label) => {
            const name = typeof label === 'string' ? label : label.name
            return (
              <span key={name} class="label">
                {name}
              </span>
            )
          })}
        </p>
      </section>
      {request.milestone && (
        <section>
          <h2>Milestone</h2>
          <p>{request.milestone.title}</p>
        </section>
      )}
      <section>
        <h2>Pipeline</h2>
        {request.head_pipeline ? (
          <p>
            <A href={`${address}/pipelines`}>#{request.head_pipeline.id}</A>{' '}
            <PipelineState status={request.head_pipeline.status} />
          </p>
        ) : (
          <p class="quiet">None</p>
        )}
      </section>
    </>
  )
}

function Rules({ rules }: { rules: ApprovalRules }) {
  return (
    <section>
      <h2>Approval rules</h2>
      <ul class="stack tight">
        {rules.map((rule) => (
          <li key={rule.id}>
            <Icon
              name={rule.approved ? 'check' : 'clock'}
              label={rule.approved ? 'Satisfied' : 'Open'}
            />{' '}
            <strong>
              {rule.rule_type === 'any_approver' ? 'Anybody who may approve' : rule.name}
            </strong>
            <p class="facts quiet">
              {rule.approved_by.length} of {counted(rule.approvals_required, 'approval')}
              {rule.rule_type === 'code_owner' && ', by a code owner'}
              {rule.eligible_approvers.length > 0 &&
                `: ${rule.eligible_approvers
                  .slice(0, 5)
                  .map(({ name }) => name)
                  .join(', ')}`}
            </p>
          </li>
        ))}
      </ul>
    </section>
  )
}

function People({ title, of }: { title: string; of: RequestData['assignees'] }) {
  return (
    <section>
      <h2>{title}</h2>
      {of.length === 0 && <p class="quiet">Nobody</p>}
      <ul>
        {of.map((person) => (
          <li key={person.id}>
            <PersonLink of={person} />
          </li>
        ))}
      </ul>
    </section>
  )
}
