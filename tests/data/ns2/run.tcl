# The scenarios of ORIGIN.md for ns-2.35: ns run.tcl TRACE one-flow|udp|dumbbell ?-option value?…
set options(-rate) 2Mb        ;# of the link between 0 and 1
set options(-delay) 10ms
set options(-queue) 20
set options(-packet) 1000
set options(-minrto) 0.2
set options(-cbr) 2.5Mb
set options(-agent) TCP/Reno  ;# TCP, TCP/Reno, TCP/Newreno, TCP/Sack1
set options(-flows) 2
set options(-overhead) 0       ;# longest time before packets are sent, in seconds
set options(-random) 0         ;# whether the intervals of CBR are
set options(-seed) 0           ;# of the generator; 0: ns-2's default
set options(-end) 10.0
array set options [lrange $argv 2 end]
if {$options(-seed)} { $defaultRNG seed $options(-seed) }

set ns [new Simulator]
set trace [open [lindex $argv 0] w]
$ns trace-all $trace
set node(0) [$ns node]
set node(1) [$ns node]

proc attach {source sink from to flow} {
    global ns
    $source set fid_ $flow
    $ns attach-agent $from $source
    $ns attach-agent $to $sink
    $ns connect $source $sink
}

proc tcp {from to flow start} {
    global ns options
    set source [new Agent/$options(-agent)]
    $source set packetSize_ $options(-packet)
    $source set minrto_ $options(-minrto)
    $source set overhead_ $options(-overhead)
    set sink Agent/TCPSink
    if {$options(-agent) eq "TCP/Sack1"} { append sink /Sack1 }
    attach $source [new $sink] $from $to $flow
    set ftp [new Application/FTP]
    $ftp attach-agent $source
    $ns at $start "$ftp start"
    return $source
}

switch [lindex $argv 1] {
    one-flow - udp {
        $ns duplex-link $node(0) $node(1) $options(-rate) $options(-delay) DropTail
        $ns queue-limit $node(0) $node(1) $options(-queue)
        if {[lindex $argv 1] eq "one-flow"} {
            tcp $node(0) $node(1) 0 0.1
        } else {
            set source [new Agent/UDP]
            attach $source [new Agent/Null] $node(0) $node(1) 0
            # A datagram as large as the application's packet is not cut.
            $source set packetSize_ $options(-packet)
            set cbr [new Application/Traffic/CBR]
            $cbr set packetSize_ $options(-packet)
            $cbr set rate_ $options(-cbr)
            $cbr set random_ $options(-random)
            $cbr attach-agent $source
            $ns at 0.1 "$cbr start"
        }
    }
    dumbbell {
        $ns duplex-link $node(0) $node(1) 10Mb 20ms DropTail
        $ns queue-limit $node(0) $node(1) 25
        $ns queue-limit $node(1) $node(0) 25
        for {set i 0} {$i < $options(-flows)} {incr i} {
            set left [$ns node]
            set right [$ns node]
            set delay [expr {1 + 3 * $i}]ms
            foreach {from to} [list $left $node(0) $node(1) $right] {
                $ns duplex-link $from $to 100Mb $delay DropTail
                $ns queue-limit $from $to 1000
                $ns queue-limit $to $from 1000
            }
            set source [tcp $left $right $i [expr {0.1 + 0.13 * $i}]]
            $source set window_ 100
        }
    }
}

$ns at $options(-end) { $ns flush-trace; close $trace; exit 0 }
$ns run
