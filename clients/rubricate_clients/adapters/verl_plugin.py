"""Named in `VERL_USE_EXTERNAL_MODULES`, so that verl imports it in every process that it starts."""

from rubricate_clients.adapters.verl import register

register()
