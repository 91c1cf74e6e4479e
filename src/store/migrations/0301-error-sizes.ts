import type { Migration } from '../migration.ts'

/**
 * How many bytes of errors each project keeps: those of the events, and four kilobytes for whatever else there is of an
 * error. The events of an error that is deleted go with it, and are counted in its own row.
 */
export const errorSizes: Migration = {
  name: '0301-error-sizes',
  sql: `
CREATE TABLE error_sizes (
  project_id INTEGER PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
  bytes INTEGER NOT NULL
) STRICT;
ALTER TABLE errors ADD COLUMN bytes INTEGER NOT NULL DEFAULT 4096;
UPDATE errors SET bytes = bytes + (
  SELECT coalesce(sum(octet_length(payload)), 0) FROM error_events WHERE error_id = errors.id);
INSERT INTO error_sizes (project_id, bytes) SELECT project_id, sum(bytes) FROM errors GROUP BY project_id;

CREATE TRIGGER error_events_inserted AFTER INSERT ON error_events BEGIN
  UPDATE errors SET bytes = bytes + octet_length(new.payload) WHERE id = new.error_id;
END;
CREATE TRIGGER error_events_replaced AFTER UPDATE OF payload ON error_events BEGIN
  UPDATE errors SET bytes = bytes + octet_length(new.payload) - octet_length(old.payload)
    WHERE id = new.error_id;
END;
CREATE TRIGGER error_events_deleted AFTER DELETE ON error_events BEGIN
  UPDATE errors SET bytes = bytes - octet_length(old.payload) WHERE id = old.error_id;
END;
CREATE TRIGGER errors_inserted AFTER INSERT ON errors BEGIN
  INSERT INTO error_sizes (project_id, bytes) VALUES (new.project_id, new.bytes)
    ON CONFLICT (project_id) DO UPDATE SET bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER errors_resized AFTER UPDATE OF bytes ON errors BEGIN
  UPDATE error_sizes SET bytes = bytes + new.bytes - old.bytes WHERE project_id = new.project_id;
END;
CREATE TRIGGER errors_deleted AFTER DELETE ON errors BEGIN
  UPDATE error_sizes SET bytes = bytes - old.bytes WHERE project_id = old.project_id;
END;
`,
}
