-- +goose Up
ALTER TABLE gate_results DROP CONSTRAINT gate_results_phase_check,
    ADD CONSTRAINT gate_results_phase_check CHECK (phase IN ('open', 'merge', 'sync', 'verify'));

-- +goose Down
DELETE FROM gate_results WHERE phase = 'verify';
ALTER TABLE gate_results DROP CONSTRAINT gate_results_phase_check,
    ADD CONSTRAINT gate_results_phase_check CHECK (phase IN ('open', 'merge', 'sync'));
