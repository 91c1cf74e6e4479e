import type { Migration } from '../migration.ts'

/** What a pipeline was made for: a merge request, how newer commits and failed jobs end it, and the error of its file. */
export const pipelineOrigins: Migration = {
  name: '0163-pipeline-origins',
  sql: `
ALTER TABLE pipelines ADD COLUMN merge_request_id INTEGER
  REFERENCES merge_requests (id) ON DELETE SET NULL;
ALTER TABLE pipelines ADD COLUMN merge_request_event TEXT
  CHECK (merge_request_event IN ('detached', 'merged_result'));
ALTER TABLE pipelines ADD COLUMN source_sha TEXT;
ALTER TABLE pipelines ADD COLUMN target_sha TEXT;
ALTER TABLE pipelines ADD COLUMN on_new_commit TEXT NOT NULL DEFAULT 'conservative'
  CHECK (on_new_commit IN ('conservative', 'interruptible', 'none'));
ALTER TABLE pipelines ADD COLUMN on_job_failure TEXT NOT NULL DEFAULT 'none'
  CHECK (on_job_failure IN ('none', 'all'));
ALTER TABLE pipelines ADD COLUMN canceled_by_id INTEGER REFERENCES pipelines (id) ON DELETE SET NULL;
CREATE INDEX pipelines_merge_request ON pipelines (merge_request_id, id)
  WHERE merge_request_id IS NOT NULL;
CREATE INDEX pipelines_canceled_by ON pipelines (canceled_by_id) WHERE canceled_by_id IS NOT NULL;
CREATE INDEX pipelines_active ON pipelines (project_id, ref)
  WHERE status IN ('created', 'waiting_for_resource', 'preparing', 'pending', 'running', 'manual', 'scheduled');
`,
}
