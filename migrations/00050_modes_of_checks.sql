-- +goose Up
ALTER TABLE rollback_verdicts
    DROP CONSTRAINT rollback_verdicts_artifact_available_check,
    ADD CONSTRAINT rollback_verdicts_artifact_available_check CHECK (artifact_available IN ('yes', 'no', 'unknown', 'unchecked', 'off')),
    DROP CONSTRAINT rollback_verdicts_config_compatible_check,
    ADD CONSTRAINT rollback_verdicts_config_compatible_check CHECK (config_compatible IN ('yes', 'no', 'unknown', 'unchecked', 'off')),
    DROP CONSTRAINT rollback_verdicts_data_compatible_check,
    ADD CONSTRAINT rollback_verdicts_data_compatible_check CHECK (data_compatible IN ('yes', 'no', 'unknown', 'unchecked', 'off')),
    DROP CONSTRAINT rollback_verdicts_traffic_switchable_check,
    ADD CONSTRAINT rollback_verdicts_traffic_switchable_check CHECK (traffic_switchable IN ('yes', 'no', 'unknown', 'unchecked', 'off')),
    DROP CONSTRAINT rollback_verdicts_dependency_recoverable_check,
    ADD CONSTRAINT rollback_verdicts_dependency_recoverable_check CHECK (dependency_recoverable IN ('yes', 'no', 'unknown', 'unchecked', 'off'));

-- +goose Down
DELETE FROM rollback_verdicts
WHERE artifact_available = 'off' OR config_compatible = 'off' OR data_compatible = 'off' OR traffic_switchable = 'off' OR dependency_recoverable = 'off';
ALTER TABLE rollback_verdicts
    DROP CONSTRAINT rollback_verdicts_artifact_available_check,
    ADD CONSTRAINT rollback_verdicts_artifact_available_check CHECK (artifact_available IN ('yes', 'no', 'unknown', 'unchecked')),
    DROP CONSTRAINT rollback_verdicts_config_compatible_check,
    ADD CONSTRAINT rollback_verdicts_config_compatible_check CHECK (config_compatible IN ('yes', 'no', 'unknown', 'unchecked')),
    DROP CONSTRAINT rollback_verdicts_data_compatible_check,
    ADD CONSTRAINT rollback_verdicts_data_compatible_check CHECK (data_compatible IN ('yes', 'no', 'unknown', 'unchecked')),
    DROP CONSTRAINT rollback_verdicts_traffic_switchable_check,
    ADD CONSTRAINT rollback_verdicts_traffic_switchable_check CHECK (traffic_switchable IN ('yes', 'no', 'unknown', 'unchecked')),
    DROP CONSTRAINT rollback_verdicts_dependency_recoverable_check,
    ADD CONSTRAINT rollback_verdicts_dependency_recoverable_check CHECK (dependency_recoverable IN ('yes', 'no', 'unknown', 'unchecked'));
