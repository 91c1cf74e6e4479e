import { either, examples, type Spot } from '../contract/example.ts'

const title = { body: { title: 'changed' } }

export const planningExamples = examples({
  'POST P/issues': { body: { title: 'new' } },
  'PUT P/IS': title,
  'POST P/IS/add_spent_time': { body: { duration: '1h' } },
  'POST P/IS/time_estimate': { body: { duration: '1h' } },
  'POST P/IS/clone': { body: ({ place }) => ({ to_project_id: place.project.id }) },
  'POST P/IS/move': {
    body: ({ stage, place }) => ({
      to_project_id: [...stage.places.values()].find((one) => one !== place)?.project.id,
    }),
  },
  'POST P/IS/links': {
    path: ({ place }) => ({ issue_iid: place.project.second_issue_iid ?? '' }),
    body: ({ place }) => ({
      target_project_id: place.project.id,
      target_issue_iid: place.project.third_issue_iid,
    }),
  },
  'PUT P/IS/reorder': {
    body: ({ place }) => ({ move_after_id: place.project.second_issue_id }),
  },
  'GET /issues/:issue_id': {
    by: 'admin',
    path: ({ place }) => ({ issue_id: place.project.issue_id ?? '' }),
  },
  ...Object.fromEntries(
    [
      ['P/IS/resource_label_events', 'issue_iid', 'label_event_id'],
      ['P/IS/resource_milestone_events', 'issue_iid', 'milestone_event_id'],
      ['P/IS/resource_state_events', 'second_issue_iid', 'state_event_id'],
      ['P/IS/resource_weight_events', 'second_issue_iid', 'weight_event_id'],
    ].map(([path, iid = '', event = '']) => [
      `GET ${path}/:event_id`,
      {
        path: ({ place }: Spot) => ({
          issue_iid: place.project[iid] ?? '',
          event_id: place.project[event] ?? '',
        }),
      },
    ]),
  ),
  'GET P/IS/resource_iteration_events/:event_id': {
    never: 'there are no iterations: the list is always empty, a single event always 404',
  },
  'GET P/IS/user_agent_detail': { by: 'admin' },
  ...either({
    'POST /labels': { body: { name: 'fresh', color: '#00ff00' } },
    'PUT /labels/:label_id': { body: { new_name: 'renamed' } },
    'PUT /labels': {
      body: ({ place }) => ({ label_id: place.project.label_id, new_name: 'renamed' }),
    },
    'DELETE /labels': { query: ({ place }) => ({ label_id: place.project.label_id ?? '' }) },
    'POST /milestones': { body: { title: 'fresh' } },
    'PUT /milestones/:milestone_id': title,
    'POST /boards': { body: { name: 'fresh' } },
    'PUT /boards/:board_id': { body: { name: 'renamed' } },
    'PUT /boards/:board_id/lists/:list_id': { body: { position: 0 } },
  }),
  'PUT G/labels': { body: { name: 'of-group', new_name: 'renamed' } },
  'DELETE G/labels': { query: { name: 'of-group' } },
  'POST P/boards/:board_id/lists': {
    body: ({ place }) => ({ label_id: place.project.other_label_id }),
  },
  'POST G/boards/:board_id/lists': {
    body: ({ place }) => ({ label_id: place.group.other_label_id }),
  },
})
